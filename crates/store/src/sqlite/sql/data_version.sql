-- Changes when another connection has committed: then what we remember of the heads may be old.
PRAGMA data_version
