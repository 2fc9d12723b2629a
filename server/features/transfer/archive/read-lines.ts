// Reads the records of a file in an archive: lines of JSON, some at a time, in bounded memory.

import { parseJson } from '../../../lib/formats/parse-json.ts'
import type { WorkspaceFileName } from '../export/manifest.ts'
import { FileProblem } from '../files/source-file.ts'
import type { Archive } from './open-archive.ts'

export interface ArchiveLine {
  /** From 1. */
  row: number
  /** Undefined if the line is not JSON. */
  record: unknown
}

/** Longer than a submission of the largest size with every character escaped. */
const LINE_BYTES_MAX = 16 * 1024 * 1024
const BATCH_LINES = 200
const BATCH_BYTES = 512 * 1024
const LINE_FEED = 10

/** Yields some lines at a time. @throws FileProblem */
export async function* readLines(archive: Archive, name: WorkspaceFileName): AsyncGenerator<ArchiveLine[]> {
  let batch: ArchiveLine[] = []
  let bytes = 0
  let row = 0
  for await (const line of splitLines(archive.read(name), name)) {
    batch.push({ row: ++row, record: parseJson(line.toString()) })
    bytes += line.length
    if (batch.length < BATCH_LINES && bytes < BATCH_BYTES) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

async function* splitLines(pieces: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  let rest: Buffer[] = []
  let restBytes = 0
  for await (const piece of pieces) {
    let from = 0
    for (let to = piece.indexOf(LINE_FEED); to !== -1; to = piece.indexOf(LINE_FEED, from)) {
      const end = piece.subarray(from, to)
      yield restBytes === 0 ? end : Buffer.concat([...rest, end])
      rest = []
      restBytes = 0
      from = to + 1
    }
    if (from === piece.length) continue
    rest.push(piece.subarray(from))
    restBytes += piece.length - from
    if (restBytes > LINE_BYTES_MAX)
      throw new FileProblem(`The file ${name} in the zip has a line without an end.`)
  }
  if (restBytes > 0) yield Buffer.concat(rest)
}
