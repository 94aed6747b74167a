"""Write the JSON Schema of audit.json into the package: python scripts/write_schema.py."""

from evenhand.results import SCHEMA_FILE, schema_text

if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8", newline="\n")
    print(SCHEMA_FILE)
