// Deduplication keys of exported records in later imports: the public id of the exported workspace, and the record's id
// there.

type KeyKind = 'link' | 'tag' | 'form' | 'channel' | 'submission' | 'view'

export const toArchiveKey = (publicId: string, kind: KeyKind, id: number | string): string =>
  `${kind}:${publicId}:${id}`

/** The key of a stand-in link for hits without a link, such as page views of visitors who came without one. */
export const toNoLinkKey = (publicId: string): string => `none:${publicId}`
