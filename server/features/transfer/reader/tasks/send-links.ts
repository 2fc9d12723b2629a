// The task `links`: sends the links of a file in batches, from the position of the import.

import { readRecords } from '../../files/read-records.ts'
import { createLinkKeys, toShortLinkKey } from '../../sources/deduplication-keys.ts'
import { toLink } from '../../sources/read-record.ts'
import type { ImportSource, Reading, SourceLink } from '../../sources/source.ts'
import type { LinkRowReading, TaskFunction } from '../protocol.ts'
import { getSource, openLinkFile } from './open-links.ts'

/** A batch is one transaction, so that redirects and other writers wait only for a few links. */
const BATCH_LINKS = 25

export const sendLinks: TaskFunction<'links'> = async (input, send) => {
  const source = getSource(input.source)
  const file = await openLinkFile(source, input.file)
  const toKeys = createLinkKeys(source)
  let batch: LinkRowReading[] = []
  let read = 0
  for await (const records of readRecords(file, source.links)) {
    for (const record of records) {
      const reading = toLink(source, record, input.options)
      if (!reading) continue
      // Stored rows are read as well, to count earlier rows with the same content.
      const keys = 'value' in reading ? toKeys(reading.value) : []
      if (++read <= input.skip) continue
      batch.push(toRowReading(source, record.row, keys, reading))
      if (batch.length < BATCH_LINKS) continue
      await send({ readings: batch })
      batch = []
    }
  }
  if (batch.length > 0) await send({ readings: batch })
  return null
}

function toRowReading(
  source: ImportSource,
  row: number,
  keys: string[],
  reading: NonNullable<Reading<SourceLink>>,
): LinkRowReading {
  if (!('value' in reading)) return { row, keys, aliasKeys: [], link: null, problems: reading.problems }
  const link = reading.value
  const aliasKeys = link.aliases.map((alias) => toShortLinkKey(source, link.host, alias) ?? '')
  return { row, keys, aliasKeys, link, problems: [] }
}
