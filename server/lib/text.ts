// Text as it arrives from strangers.

/** Neither NUL (PostgreSQL cannot store it) nor half a surrogate pair (nobody can). */
export const isCleanText = (text: string) => !text.includes('\0') && text.isWellFormed()

/** For matching without regard to case: NFC, lower case. */
export const foldCase = (text: string) => text.normalize('NFC').toLowerCase()
