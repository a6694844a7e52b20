-- Moves the watermark on, never back.
UPDATE meta SET watermark = ?1 WHERE watermark < ?1
