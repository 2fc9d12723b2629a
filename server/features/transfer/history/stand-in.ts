// Stand-in links for hits of our own export that have none, such as page views of visitors who came without a link.
// Their hits are counted by day like those of a link, so that a repeated import adds none of them.

import { createHash } from 'node:crypto'

/** Higher than any link's id. */
const FIRST = 2 ** 36

/** The id of the stand-in link. Each exported workspace has its own. */
export const toStandIn = (publicId: string): number =>
  FIRST + (createHash('sha256').update(publicId).digest().readUInt32BE() >>> 0)

/** The link id of a hit: 0 for a stand-in link. */
export const toHitLink = (linkId: number): number => (linkId >= FIRST ? 0 : linkId)
