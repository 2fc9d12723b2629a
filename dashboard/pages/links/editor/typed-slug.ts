// Makes a slug of a typed or pasted text, as one types.

/** A slug has no spaces, and none of the characters that mean something in a URL or a sentence. */
export const toTypedSlug = (text: string) =>
  text
    .normalize('NFC')
    .replace(/[\s\u2013\u2014]+/g, '-')
    .replace(/[?#%&=+,:;'"“”‘’`´()<>[\]{}|\\^~*!@$]/g, '')
    .replace(/--+/g, '-')
