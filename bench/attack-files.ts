// The files that attacks of bench/attack-corpus.ts upload: a dump that is slow to recognise, and forged exports of
// workspaces.

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

/** Uses another workspace each time, because a second import of the same file brings nothing. */
async function packWorkspace(submissions: object[], files: Record<string, Buffer> = {}) {
  const records = { 'forms.ndjson': [toFormRecord(FORM_KEY)], 'submissions.ndjson': submissions }
  const workspace = { publicId: `ws_${crypto.randomUUID()}`, name: 'Attack', createdAt: AT }
  return new Uint8Array(await packArchive(records, files, { workspace }))
}

const toSubmission = (n: number, parts: object) => toSubmissionRecord(n, FORM_KEY, parts)

/** 2.5 KB with 128,000 marks. */
export function packMarks() {
  const fields = [['text', writeMarks(32_000)]]
  return packWorkspace([1, 2].map((n) => toSubmission(n, { fields })))
}

/** One packed file that 500 lines of submissions name: on the disk it takes 1 GB. */
export function packOneFile() {
  const [path, bytes] = [toPackedPath(1), Buffer.alloc(2 * 1024 * 1024)]
  const files = Array.from({ length: 5 }, () => toFileRecord(path, bytes))
  const submissions = Array.from({ length: 100 }, (_, n) => toSubmission(n + 1, { files }))
  return packWorkspace(submissions, { [path]: bytes })
}
