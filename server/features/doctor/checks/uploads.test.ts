import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createWorkspace } from '../../accounts/workspaces/create-workspace.ts'
import { insertSubmissions } from '../../forms/submissions/submission.fixture.ts'
import { createPatient, type DoctorPatient, summarize } from '../doctor.fixture.ts'
import { checkUploads } from './uploads.ts'

const NOW = Date.UTC(2026, 5, 11, 12)

let patient: DoctorPatient
beforeEach(async () => {
  patient = await createPatient()
})
afterEach(() => patient.end())

const toKey = (digit: string) => `2026-06-10/${digit.repeat(32)}`
const pathOf = (key: string) => join(patient.dataDir, 'uploads', key)

function writeUpload(key: string) {
  mkdirSync(join(pathOf(key), '..'), { recursive: true })
  writeFileSync(pathOf(key), 'x')
}

/** Files of one submission, each with its row. */
async function storeFiles(keys: string[]) {
  const { db } = patient
  const workspace = await createWorkspace({ db, now: () => NOW }, { name: 'Test', plan: 'pro' })
  await db.write(async (connection) => {
    const { id: formId } = await connection
      .insertInto('forms')
      .values({ workspace_id: workspace.id, form_key: 'k', name: 'Jobs', created_at: 1, updated_at: 1 })
      .returning('id')
      .executeTakeFirstOrThrow()
    const [submission_id = 0] = await insertSubmissions(connection, { workspaceId: workspace.id, formId }, [
      {},
    ])
    const file = {
      workspace_id: workspace.id,
      submission_id,
      field: 'a',
      name: 'a',
      type: 'text/plain',
      bytes: 1,
    }
    const rows = keys.map((key) => ({ ...file, sha256: '', key, created_at: 1 }))
    await connection.insertInto('submission_files').values(rows).execute()
  })
  keys.forEach(writeUpload)
}

for (const isThorough of [true, false]) {
  test(`uploads are well where each row has its file (${isThorough ? 'command' : 'server'})`, async () => {
    expect(summarize(await checkUploads(patient.needs({ isThorough })))).toBe('ok: No submission has files.')
    expect(existsSync(join(patient.dataDir, 'uploads'))).toBe(false)
    await storeFiles([toKey('a'), toKey('b')])
    const well = 'ok: Submissions have 2 files, all present.'
    expect(summarize(await checkUploads(patient.needs({ isThorough })))).toBe(well)
    rmSync(pathOf(toKey('b')))
    expect(summarize(await checkUploads(patient.needs({ isThorough })))).toMatch(
      /^problem: Submissions miss (1 file|1 of their newest 2 files)\.$/,
    )
  })
}

test('an old file without a row is a warning, a young one is not', async () => {
  await storeFiles([toKey('a')])
  writeUpload(toKey('c'))
  expect(summarize(await checkUploads(patient.needs()))).toStartWith('ok: ')
  utimesSync(pathOf(toKey('c')), 1, 1)
  expect(summarize(await checkUploads(patient.needs()))).toBe(
    'warning: The store has 1 file without a submission.',
  )
})

test('a bucket that is away is a problem, and the sentence says why', async () => {
  const away = async () => {
    throw new Error('The bucket for uploads could not be reached')
  }
  const files = { read: away, list: () => ({ [Symbol.asyncIterator]: () => ({ next: away }) }) }
  await storeFiles([toKey('a')])
  for (const isThorough of [true, false])
    expect(summarize(await checkUploads(patient.needs({ isThorough, openFiles: async () => files })))).toBe(
      'problem: Uploads cannot be read: The bucket for uploads could not be reached.',
    )
})
