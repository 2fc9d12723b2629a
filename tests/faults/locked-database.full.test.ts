// Another program holds the lock of the database: a backup by hand, or somebody's sqlite3 with an open transaction.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import pg from 'pg'
import { nextSenderAddress, SCRIPT_HEADERS, URLENCODED_TYPE } from '../support/form-requests.ts'
import { atScale } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { onBothEngines, onSqlite, type TestServer } from '../support/world.ts'
import { startLoadGenerator } from './load-generator.ts'

/** Requests that the lock refuses before it ends: the first writes time out. */
const REFUSED = atScale({ full: 2, soak: 24 })

/** PostgreSQL gives up after 10 s. */
const onEngines = atScale({ full: onSqlite, soak: onBothEngines })

/** Takes the lock that a careless program would hold. @returns releases it */
async function lockDatabase({ engine, dataDir, databaseUrl }: TestServer): Promise<() => Promise<void>> {
  if (engine === 'sqlite') {
    const database = new Database(join(dataDir, 'towpath.db'))
    database.run('PRAGMA busy_timeout=5000')
    database.run('BEGIN EXCLUSIVE')
    return async () => {
      database.run('ROLLBACK')
      database.close()
    }
  }
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('begin; lock table submissions, links, deliveries in share mode')
  return async () => {
    await client.query('rollback')
    await client.end()
  }
}

onEngines(
  'while another program holds the lock',
  (server) => {
    test('redirects go on, and a form waits, or says when to come again; after it, everything works', async () => {
      const workspace = await server().createWorkspace()
      const link = await workspace.createLink()
      await server().click(link.slug)
      const form = (await workspace.api('/forms', { method: 'POST', body: { name: 'Contact' } })).json.data
      const submit = async (number: number) => {
        const headers = {
          ...SCRIPT_HEADERS,
          'Content-Type': URLENCODED_TYPE,
          'X-Forwarded-For': nextSenderAddress(),
        }
        const answer = await server().call(`/f/${form.formKey}`, {
          method: 'POST',
          body: `n=${number}`,
          headers,
        })
        return { ...answer, acknowledged: answer.status === 200 ? String(number) : undefined }
      }
      const release = await lockDatabase(server())
      const forms = startLoadGenerator(2, submit)
      const edits = startLoadGenerator(1, (number) =>
        workspace.api('/links', {
          method: 'POST',
          body: { destinationUrl: `https://example.com/${number}` },
        }),
      )
      const clicks = startLoadGenerator(2, async () => {
        const answer = await server().click(link.slug)
        await Bun.sleep(10)
        return answer
      })
      const reads = startLoadGenerator(1, async () => {
        const answer = await server().call(`/${link.slug}+`)
        await Bun.sleep(50)
        return answer
      })
      await until('forms to be refused', () => (forms.statuses.get(503) ?? 0) >= REFUSED, 120_000)
      expect(forms.acknowledged).toEqual([])
      // They did not wait for the lock: some hundred in five seconds.
      expect(clicks.statuses.get(302)).toBeGreaterThan(50)
      // These wait, and the lock ends before they give up.
      await release()
      await until('forms to be stored again', () => forms.acknowledged.length >= 2, 30_000)
      for (const load of [forms, edits, clicks, reads]) await load.stop()

      expect([...forms.statuses.keys()].sort()).toEqual([200, 503])
      expect([...edits.statuses.keys()].filter((status) => ![201, 429, 503].includes(status))).toEqual([])
      expect([forms.withoutRetryAfter, edits.withoutRetryAfter]).toEqual([0, 0])
      expect([...clicks.statuses.keys()]).toEqual([302])
      expect([...reads.statuses.keys()]).toEqual([200])
      const { json } = await workspace.api(`/forms/${form.formKey}/submissions?limit=100`)
      const stored = json.data.map(({ fields }: { fields: { n: string } }) => fields.n)
      expect(stored.sort()).toEqual(forms.acknowledged.sort())
      await server().waitUntilShipped()
      const counted = (await workspace.api(`/links/${link.id}`)).json.data.clicks
      expect(counted).toBe((clicks.statuses.get(302) ?? 0) + 1)
    })
  },
  { environment: { TRUST_PROXY: '127.0.0.1' } },
)
