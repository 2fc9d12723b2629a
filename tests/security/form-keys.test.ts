// A form's key stays with its workspace: pages and native senders may use it for years after the form was deleted.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { deleteWorkspace } from '../../server/features/accounts/workspaces/delete-workspace.ts'
import { packArchive, toFormRecord } from '../support/imports/pack-archive.ts'
import { undoImport, uploadAndRun } from '../support/imports/upload-client.ts'
import { quick } from '../support/suite.ts'
import { onBothEngines, type TestWorkspace } from '../support/world.ts'

setDefaultTimeout(120_000)

onBothEngines('the key of a form', (server) => {
  const createForm = async (ws: TestWorkspace): Promise<string> =>
    (await ws.api('/forms', { method: 'POST', body: { name: 'Contact' } })).json.data.formKey
  const listKeys = async (ws: TestWorkspace) =>
    (await ws.api('/forms')).json.data.map(({ formKey }: { formKey: string }) => formKey)
  const importForm = async (ws: TestWorkspace, formKey: string) => {
    const target = { origin: server().origin, key: ws.key }
    const zip = await packArchive({ 'forms.ndjson': [toFormRecord(formKey)] })
    const file = new File([new Uint8Array(zip)], 'workspace.zip')
    const { id, status, created, renamed } = await uploadAndRun(target, {
      fields: { source: 'towpath' },
      file,
    })
    expect([status, created]).toEqual(['done', 1])
    const { text } = await ws.api(`/imports/${id}/rows`)
    return { renamed, rows: text, undo: () => undoImport(target, id) }
  }
  const isServed = async (formKey: string) => {
    const { status } = await server().call(`/f/${formKey}`, {
      method: 'POST',
      body: { email: 'ada@example.com' },
      headers: { Accept: 'application/json' },
    })
    return status !== 404
  }

  /** Another workspace brings the key in a zip, and gets a new one. */
  async function expectKept(formKey: string) {
    const other = await server().createWorkspace()
    const { renamed, rows } = await importForm(other, formKey)
    const [key] = await listKeys(other)
    expect([renamed, key === formKey]).toEqual([1, false])
    expect(rows).toContain(`The key ${formKey} belongs to another form or workspace`)
    expect(rows).toContain(key)
  }

  test('is not given to others while its form is there', async () => {
    await expectKept(await createForm(await server().createWorkspace()))
  })

  test('is not given to others when its form is deleted, and its own workspace may bring it back', async () => {
    const ws = await server().createWorkspace()
    const key = await createForm(ws)
    expect((await ws.api(`/forms/${key}`, { method: 'DELETE' })).status).toBe(200)
    await expectKept(key)
    expect(await isServed(key)).toBe(false)
    expect((await importForm(ws, key)).renamed).toBe(0)
    expect(await listKeys(ws)).toEqual([key])
    expect(await isServed(key)).toBe(true)
  })

  test('is not given to others when its workspace is deleted', async () => {
    const ws = await server().createWorkspace()
    const key = await createForm(ws)
    await deleteWorkspace({ db: server().app.db, now: server().now }, ws.id)
    await expectKept(key)
    expect(await isServed(key)).toBe(false)
  })

  quick('stays with the workspace that has brought it by an import, also after the undo', async () => {
    const ws = await server().createWorkspace()
    const key = 'bearer2345'
    const { renamed, undo } = await importForm(ws, key)
    expect([renamed, await listKeys(ws)]).toEqual([0, [key]])
    await undo()
    expect(await listKeys(ws)).toEqual([])
    await expectKept(key)
    expect((await importForm(ws, key)).renamed).toBe(0)
  })
})
