// The commands of docs/gdpr.md do what the page says: somebody asks which data there is, has it corrected and erased, and what
// is old is deleted.

import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCodeBlock, readCodeBlocks } from '../support/code-blocks.ts'
import { onSqlite } from '../support/world.ts'

const page = await readCodeBlocks('docs/gdpr.md')
/** The variables of docs/guide.md, which the page uses. */
const [variables = ''] = (await readCodeBlocks('docs/guide.md')).map(({ code }) => code)

const ADA = { email: 'Ada@example.com', message: 'Call me' }
const BOB = { email: 'bob@example.com', message: 'Ask ada@example.com' }

onSqlite('the commands of docs/gdpr.md', (server) => {
  async function setUp() {
    const own = await server().createWorkspace()
    const form = (await own.api('/forms', { method: 'POST', body: { name: 'Contact' } })).json.data
    const send = async (fields: object) => {
      const headers = { 'Content-Type': 'application/json' }
      const body = JSON.stringify(fields)
      expect((await fetch(form.endpoint, { method: 'POST', headers, body })).status).toBe(200)
      return (await own.api('/submissions?limit=1')).json.data[0].id as number
    }
    const [ada, bob] = [await send(ADA), await send(BOB)]
    const dir = mkdtempSync(join(tmpdir(), 'towpath-gdpr-'))

    /** Runs a block as it stands, with the ids of what there is. @returns its output, line by line of JSON */
    async function run(heading: string) {
      const code = getCodeBlock(page, heading, 'sh')
        .replace(/submissions\/1\b/g, `submissions/${ada}`)
        .replace(/submissions\/2\b/g, `submissions/${bob}`)
        .replaceAll('-H "$H"', '-H "$H" -w "\\n"')
      const known = variables
        .replace('http://localhost:3000', server().origin)
        .replace(/^F=\w+/m, `F=${form.formKey}`)
      const child = Bun.spawn(['bash', '-c', `${known}\n${code}`], {
        cwd: dir,
        env: { PATH: process.env.PATH, KEY: own.key },
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [out, err] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ])
      expect({ code: await child.exited, err }).toEqual({ code: 0, err: '' })
      return out
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    }
    return { own, ada, bob, run, dir }
  }

  test('access: what was sent with an address, what mentions it, what brought it, and a file', async () => {
    const { ada, bob, run, dir } = await setUp()
    const [sent, mentioned, brought] = await run('Access, and a copy to take along')
    const toIds = (list: { data: { id: number }[] }) => list.data.map(({ id }) => id)
    expect(toIds(sent)).toEqual([ada])
    expect(toIds(mentioned)).toEqual([bob, ada])
    expect(brought.data).toBeDefined()
    const file = await Bun.file(join(dir, 'ada.json')).json()
    expect(file.data).toMatchObject([{ id: ada, fields: ADA }])
    rmSync(dir, { recursive: true })
  })

  test('correction and erasure: a note, then nothing of the person is left', async () => {
    const { own, ada, run, dir } = await setUp()
    await run('Correction')
    expect((await own.api(`/submissions/${ada}`)).json.data.notes).toContain('Paris')
    const [erased] = await run('Erasure')
    expect(erased.data).toMatchObject({ email: 'ada@example.com', erased: 1, receipt: { submissions: 1 } })
    expect((await own.api('/submissions?search=ada')).json.total).toBe(0)
    rmSync(dir, { recursive: true })
  })

  test('retention: only submissions up to the date are deleted', async () => {
    const { own, ada, bob, run, dir } = await setUp()
    await server().app.db.write((connection) =>
      connection
        .updateTable('submissions')
        .set({ created_at: Date.parse('2024-12-31T12:00:00Z') })
        .where('id', '=', ada)
        .execute(),
    )
    await run('Retention')
    const left = (await own.api('/submissions')).json.data.map(({ id }: { id: number }) => id)
    expect(left).toEqual([bob])
    rmSync(dir, { recursive: true })
  })
})
