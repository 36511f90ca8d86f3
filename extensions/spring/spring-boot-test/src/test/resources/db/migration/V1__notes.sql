CREATE TABLE kind (name text PRIMARY KEY);
INSERT INTO kind VALUES ('from the migration');

CREATE TABLE note (
  id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  text text NOT NULL
);

CREATE TABLE setting (value text NOT NULL);

GRANT SELECT, INSERT ON kind, note, setting TO notes_app;
