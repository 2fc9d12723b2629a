// Skips segment numbers, in a spool that no server has open. An id of a hit has the number of its segment, so a
// directory that is restored from a backup gives out no id twice.

import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { writeDurably } from '../../../storage/write-durably.ts'
import { encodeHeader } from './record-format.ts'
import { parseSegmentName, toSegmentName } from './segment.ts'

/** The next segment has a number that is higher by `count` than the last one. In between is a segment without hits. */
export async function skipSegments(dir: string, count: number): Promise<void> {
  const seqs = (await readdir(dir)).map(parseSegmentName).filter((seq) => seq !== null)
  const seq = Math.max(0, ...seqs) + count
  const header = encodeHeader({ seq, createdAt: Date.now(), nonce: randomBytes(4).readUInt32LE(0) })
  await writeDurably(join(dir, toSegmentName(seq)), (file) => file.writeFile(header), 'wx')
}
