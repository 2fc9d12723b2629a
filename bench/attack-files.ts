// The files that attacks of bench/attack-corpus.ts upload: a dump that is slow to recognise, and exports of workspaces that
// nobody has exported.

import {
  packArchive,
  toFileRecord,
  toFormRecord,
  toPackedPath,
  toSubmissionRecord,
} from '../tests/support/imports/pack-archive.ts'

/** Marks above and below a letter, by turns: to compose them (Unicode's NFC), a run of them is sorted. */
export const writeMarks = (pairs: number) => `a${'\u0301\u0316'.repeat(pairs)}`

const COMMENTS = 60
/** It looks like the beginning of an SQL dump, and is none. */
export const COMMENTED_DUMP = `${`/*${'x'.repeat(4_000)}*/\n`.repeat(COMMENTS)}x,y\n1,2\n`

const FORM_KEY = 'attack2345'
const AT = '2026-01-01T00:00:00.000Z'

/** Of another workspace each time: what an export has brought is not brought again. */
async function packWorkspace(submissions: object[], files: Record<string, Buffer> = {}) {
  const records = { 'forms.ndjson': [toFormRecord(FORM_KEY)], 'submissions.ndjson': submissions }
  const workspace = { publicId: `ws_${crypto.randomUUID()}`, name: 'Attack', createdAt: AT }
  return new Uint8Array(await packArchive(records, files, { workspace }))
}

const MARKED_SUBMISSIONS = 2

/** 2.5 KB with 128,000 marks. */
export const packMarks = () =>
  packWorkspace(
    Array.from({ length: MARKED_SUBMISSIONS }, (_, n) =>
      toSubmissionRecord(n + 1, FORM_KEY, { fields: [['text', writeMarks(32_000)]] }),
    ),
  )

/** 500 times as many bytes on the disk: enough for a measurement, and not for a full disk. */
const PACKED_BYTES = 2 * 1024 * 1024
const NAMED_TIMES = 500
const FILES_A_SUBMISSION = 5

/** One packed file that 500 lines of submissions name. */
export function packOneFile() {
  const [path, bytes] = [toPackedPath(1), Buffer.alloc(PACKED_BYTES)]
  const files = Array.from({ length: FILES_A_SUBMISSION }, () => toFileRecord(path, bytes))
  const submissions = Array.from({ length: NAMED_TIMES / FILES_A_SUBMISSION }, (_, n) =>
    toSubmissionRecord(n + 1, FORM_KEY, { files }),
  )
  return packWorkspace(submissions, { [path]: bytes })
}
