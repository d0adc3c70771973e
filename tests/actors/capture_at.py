"""A writer of a capture whose path a test knows."""

from motorpool.actors.files.media_store import MediaKey, MediaStore
from motorpool.actors.video.capture_files import CaptureWriter


class CaptureAt(CaptureWriter):
    """Writes the file `path` in the folder of a device."""

    def __init__(self, path):
        super().__init__(MediaStore(path.parent.parent), MediaKey(path.parent.name, path.name), {}, 1000)
        self.path = path

    def add(self, fragments):
        """Encode and write fragments."""
        self.write(self.encode(fragments))
