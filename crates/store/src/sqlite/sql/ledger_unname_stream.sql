-- Takes a stream's name away: nobody finds it any more. Its number is not given out again while records carry it.
UPDATE streams SET run = '-', tenant = '', workspace = CAST(id AS TEXT), frozen = NULL WHERE id = ?1
