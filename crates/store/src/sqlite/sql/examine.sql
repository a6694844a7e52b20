-- What is in a file, of one moment: another process may be making it right now.
SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version
