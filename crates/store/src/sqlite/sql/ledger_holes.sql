-- Positions without a record that can be read: given back, kept empty at the end, or still to be given back.
SELECT coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'removed'), 0)
     + (SELECT count(*) FROM records WHERE stream = 0)
     + (SELECT count(*) FROM streams s JOIN records r ON r.stream = s.id WHERE s.run = '-')
