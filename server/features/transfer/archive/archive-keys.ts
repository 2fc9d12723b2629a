// What names the things of an export in later imports of the same workspace: its public id, and the id that it had there.

type KeyKind = 'link' | 'form' | 'channel' | 'submission'

export const toArchiveKey = (publicId: string, kind: KeyKind, id: number | string): string =>
  `${kind}:${publicId}:${id}`

/** Stands for the link of hits that have none, such as page views of visitors who came without a link. */
export const toNoLinkKey = (publicId: string): string => `none:${publicId}`
