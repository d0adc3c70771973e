"""From media packets to HLS segments and playlists."""
