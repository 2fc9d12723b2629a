import { expect } from 'bun:test'
import { quick } from '../../../tests/support/suite.ts'
import { onBothEngines, type TestServer, type TestWorkspace } from '../../../tests/support/world.ts'
import { insertSubmissions } from '../forms/submissions/submission.fixture.ts'
import { withoutOutcomes } from './without-outcomes.fixture.ts'

const REFERERS = [
  'https://l.facebook.com/l.php?u=x',
  'https://m.facebook.com/',
  'https://lm.facebook.com/',
  'android-app://com.facebook.katana/',
  'https://t.co/abc',
  'https://www.google.de/',
  'https://news.example/story',
]

async function seed(server: TestServer): Promise<TestWorkspace> {
  const ws = await server.createWorkspace()
  const { slug } = await ws.createLink({ slug: `sources-${ws.id}` })
  for (const Referer of REFERERS) await server.click(slug, { Referer })
  await server.click(slug)
  await server.click(`${slug}?utm_source=google&utm_medium=cpc`, { Referer: 'https://www.google.de/' })
  const { json } = await ws.post('/forms', { name: 'Contact' })
  const form = await server.row('forms', { form_key: json.data.formKey })
  const now = server.now()
  await server.app.db.write((connection) =>
    insertSubmissions(connection, { workspaceId: ws.id, formId: form.id }, [
      { referrer: 'm.facebook.com', visitor: '1', created_at: now },
      { referrer: 'l.facebook.com', visitor: '1', created_at: now },
      { referrer: 'facebook.com', utm_medium: 'email', visitor: '2', created_at: now },
      { referrer: null, created_at: now },
    ]),
  )
  await server.waitUntilShipped()
  return ws
}

onBothEngines('sources and channels', (server) => {
  quick(
    'group the hosts of a source and tell how visitors came, the same for clicks, leads and the funnel',
    async () => {
      const ws = await seed(server())
      const ask = async (path: string) => (await ws.api(`/analytics/${path}`)).json.data
      expect(await ask('clicks?groupBy=source')).toEqual([
        { source: 'Facebook', clicks: 4, visitors: 1 },
        { source: 'Google', clicks: 2, visitors: 1 },
        { source: '(direct)', clicks: 1, visitors: 1 },
        { source: 'X', clicks: 1, visitors: 1 },
        { source: 'news.example', clicks: 1, visitors: 1 },
      ])
      expect(await ask('clicks?groupBy=channel')).toEqual([
        { channel: 'social', clicks: 5, visitors: 1 },
        { channel: 'direct', clicks: 1, visitors: 1 },
        { channel: 'paid', clicks: 1, visitors: 1 },
        { channel: 'referral', clicks: 1, visitors: 1 },
        { channel: 'search', clicks: 1, visitors: 1 },
      ])
      // The hosts stay, behind the source and by themselves.
      const hosts = await ask('clicks?groupBy=referrer&source=facebook')
      expect(hosts.map(({ referrer }: { referrer: string }) => referrer)).toEqual([
        'com.facebook.katana',
        'l.facebook.com',
        'lm.facebook.com',
        'm.facebook.com',
      ])
      const count = async (query: string) => (await ask(`clicks?${query}`)).clicks
      expect(await count('source=m.facebook.com')).toBe(4)
      expect(await count('referrer=m.facebook.com')).toBe(1)
      expect(await count('source=-Facebook,(direct)')).toBe(4)
      expect(await count('channel=Social,paid')).toBe(6)
      expect(await count('channel=-social')).toBe(4)

      expect(withoutOutcomes(await ask('leads?groupBy=source'))).toEqual([
        { source: 'Facebook', leads: 3, visitors: 2 },
        { source: '(direct)', leads: 1, visitors: 0 },
      ])
      expect(withoutOutcomes(await ask('leads?groupBy=channel'))).toEqual([
        { channel: 'social', leads: 2, visitors: 1 },
        { channel: 'direct', leads: 1, visitors: 0 },
        { channel: 'email', leads: 1, visitors: 1 },
      ])
      expect((await ask('leads?source=facebook&channel=-email')).leads).toBe(2)
      expect(withoutOutcomes(await ask('funnel?groupBy=source&limit=2'))).toEqual([
        { source: 'Facebook', clicks: 4, visits: 0, leads: 3, rate: 0 },
        { source: 'Google', clicks: 2, visits: 0, leads: 0, rate: 0 },
      ])
      expect(withoutOutcomes(await ask('funnel?groupBy=channel&limit=1'))).toEqual([
        { channel: 'social', clicks: 5, visits: 0, leads: 2, rate: 0 },
      ])
      const wrong = await ws.api('/analytics/leads?channel=television')
      expect([wrong.status, wrong.json.errors]).toEqual([
        422,
        { channel: 'must be any of search, social, email, direct, referral, paid' },
      ])
      const { text } = await ws.api('/analytics/clicks/export?format=ndjson&channel=paid')
      expect(JSON.parse(text)).toMatchObject({ referrer: 'google.de', source: 'Google', channel: 'paid' })
    },
  )
})
