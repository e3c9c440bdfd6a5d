"""Writers: plain data in, the text of other tools' files out. Each knows one family of formats."""
