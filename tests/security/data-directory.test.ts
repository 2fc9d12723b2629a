// The files of an installation: nobody but the user of the server may read them, whatever that user's shell allows.

import { afterAll, expect, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInstallation } from '../faults/server-process.ts'
import { until } from '../support/until.ts'

// The first rows are written by this process, as the command line writes them: with the umask of the server.
const umask = process.umask(0o077)
const installation = await createInstallation(1).finally(() => process.umask(umask))
afterAll(() => installation.end())

/** A file that is removed while this looks at it is left out. */
const listFiles = () =>
  readdirSync(installation.dataDir, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (!stat) return []
    const isDirectory = stat.isDirectory()
    return [{ path: path.slice(installation.dataDir.length + 1), mode: stat.mode & 0o777, isDirectory }]
  })

/** Files that come with the work of a server: rows, the secret, clicks on their way, analytics, pinned snippets. */
const EXPECTED = ['towpath.db', 'secret', 'spool/', 'batches/', 'hits.duckdb', 'snippet/t-']

test('only the user of the server can read what the server writes', async () => {
  // This shell lets every new file be read and written by everybody.
  const server = await installation.start({ commandPrefix: ['sh', '-c', 'umask 0; exec "$@"', 'sh'] })
  const [key = ''] = installation.keys
  await server.api(key, '/links', { slug: 'one', destinationUrl: 'https://example.com/' })
  expect((await server.click('/one')).status).toBe(302)
  expect((await server.click('/t.js')).status).toBe(200)
  expect((await server.api(key, '/analytics/clicks')).status).toBe(200)
  await until('every kind of file is there', () => {
    const paths = listFiles().map(({ path, isDirectory }) => (isDirectory ? `${path}/` : path))
    return EXPECTED.every((start) => paths.some((path) => path.startsWith(start)))
  })
  const listReadable = () => listFiles().filter(({ mode }) => (mode & 0o077) !== 0)
  expect(listReadable()).toEqual([])
  expect(await server.stop()).toBe(0)
  expect(listReadable()).toEqual([])
}, 120_000)
