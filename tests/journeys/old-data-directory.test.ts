// An upgrade keeps all data: the current server starts on a data directory of version 0.1.0.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adoptInstallation, type Installation, type ServerProcess } from '../faults/server-process.ts'
import { until } from '../support/until.ts'

/**
 * A data directory that version 0.1.0 wrote with SQLite before a SIGKILL. It has four links, a tag, a form with one
 * submission, a webhook channel, a user, four clicks in the engine and two clicks in the spool only.
 */
const ARCHIVE = join(import.meta.dir, '../fixtures/data-0.1.0.tar.gz')
const KEY = 'tp_O9taUMtfGd6zxbJXOifPa3PiBQWwZh0TpZxy'
const FORM_KEY = '7pnrp6e9g2'
const ORIGIN = 'http://localhost:4555'

describe('a data directory of version 0.1.0', () => {
  let installation: Installation
  let server: ServerProcess

  beforeAll(async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'towpath-upgrade-'))
    const { exitCode } = Bun.spawnSync(['tar', '-xzf', ARCHIVE, '-C', dataDir])
    expect(exitCode).toBe(0)
    installation = adoptInstallation(dataDir, [KEY])
    server = await installation.start({ environment: { TOWPATH_URL: ORIGIN } })
  }, 60_000)

  afterAll(() => installation.end())

  const getData = async (path: string) => (await server.api(KEY, path)).json.data

  test('has its links with tags, rules and counts, and they redirect', async () => {
    const links = await getData('/links?archived=false&sort=createdAt&order=asc')
    expect(links).toMatchObject([
      {
        slug: 'spring',
        title: 'Spring sale',
        tags: [{ name: 'newsletter' }],
        leads: 1,
        trackConversions: true,
      },
      { slug: 'locked', passwordProtected: true },
      {
        slug: 'rules',
        externalId: 'crm-7',
        comments: 'kept',
        geoTargeting: { DE: 'https://example.com/de' },
      },
    ])
    const { status, headers } = await server.click('rules')
    expect([status, headers.get('location')]).toEqual([302, 'https://example.com/ios'])
    expect((await server.click('closed')).status).toBe(404)
  })

  test('opens a link with its password', async () => {
    const send = (password: string) =>
      fetch(`${server.origin}/locked`, {
        method: 'POST',
        body: new URLSearchParams({ password }),
        redirect: 'manual',
      })
    expect((await send('open barley')).status).not.toBe(303)
    expect((await send('open sesame')).headers.get('location')).toBe('https://example.com/secret')
  })

  test('counts the clicks that the killed server had not imported yet', async () => {
    await until('the link counts five', async () => (await getData('/links/1')).clicks === 5)
    await until('analytics count five', async () => {
      const [first] = await getData('/analytics/clicks?groupBy=slug&interval=all')
      return first.slug === 'spring' && first.clicks === 5
    })
  })

  test('has the submission with its attributed link, and takes new submissions', async () => {
    const [submission] = await getData(`/forms/${FORM_KEY}/submissions`)
    expect(submission).toMatchObject({
      fields: { email: 'bob@example.com', message: 'Hello' },
      linkId: 1,
      attribution: 'inferred',
    })
    const sent = await server.submit(FORM_KEY, 'email=eve%40example.com', { Accept: 'application/json' })
    expect([sent.status, sent.json]).toEqual([200, { ok: true }])
  })

  test('has its channel with a sealed secret that opens', async () => {
    const [channel] = await getData('/channels')
    expect(channel).toMatchObject({ id: 1, type: 'webhook', name: 'Hook' })
    const rotated = await server.api(KEY, '/channels/1/rotate-secret', {})
    expect(rotated.json.data.secret).toStartWith('whsec_')
  })

  test('lets its user sign in with the old password', async () => {
    const response = await fetch(`${server.origin}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: ORIGIN },
      body: JSON.stringify({ email: 'ann@example.com', password: 'a long password of a lock keeper' }),
    })
    expect(response.status).toBe(200)
    expect(response.headers.getSetCookie().join()).toContain('towpath_session=')
  })
})
