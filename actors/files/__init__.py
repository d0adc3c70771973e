"""Files of devices on disk: uploads, photos, and the free space they must leave."""
