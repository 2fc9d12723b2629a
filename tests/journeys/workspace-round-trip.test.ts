// A workspace leaves a server whole, and comes back on another one: the same things, and the same answers.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { getImport, runImport, uploadImport, waitForImport } from '../support/imports/import-client.ts'
import { createFullWorkspace, FULL_DOMAIN, openWorkspace } from '../support/imports/full-workspace.ts'
import { startServer, type TestServer, type TestWorkspace } from '../support/server/test-server.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(240_000)

test('smoke', async () => {
  const from = await startServer('sqlite')
  const to = await startServer('sqlite', { environment: { LOG_LEVEL: 'error' } })
  const ws = await createFullWorkspace(from, 2000)
  const response = await fetch(`${from.origin}/v1/export`, { headers: { Authorization: `Bearer ${ws.key}` } })
  await Bun.write('/tmp/export/b.zip', await response.blob())
  const target = await to.createWorkspace()
  const { status, json, text } = await uploadImport(to, target, [['source', 'towpath'], ['file', Bun.file('/tmp/export/b.zip')]])
  console.log(status, text)
  const done = await waitForImport(target, json.data.id)
  console.log(done)
  const rows = (await target.api(`/imports/${json.data.id}/rows?outcome=failed&limit=100`)).json.data
  console.log(rows.slice(0, 10))
  await from.close()
  await to.close()
})
