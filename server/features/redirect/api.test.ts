import { expect, test } from 'bun:test'
import { onBothEngines } from '../../../tests/support/world.ts'

const PAST = '2020-01-01T00:00:00.000Z'
const MOMENT = '2030-06-01T00:00:00.000Z'
const FUTURE = '2100-01-01T00:00:00.000Z'
const at = (place: string) => `https://example.com/${place}`

const page = (rule: string, status: number) => ({ rule, status, destinationUrl: null })
const goes = (rule: string, url: string, status = 302) => ({ rule, status, destinationUrl: url })

const CASES: [what: string, fields: Record<string, unknown>, query: string, answer: unknown][] = [
  ['a plain link', {}, '', goes('destination', at(''))],
  ['its status', { redirectStatus: 308 }, '', goes('destination', at(''), 308)],
  ['an archived link', { archived: true, expiresAt: PAST }, '', page('archived', 404)],
  ['one that is not open', { startsAt: FUTURE }, '', page('notStarted', 404)],
  [
    'one that is not open then',
    { startsAt: MOMENT },
    '?at=2030-05-31T23:59:59.999Z',
    page('notStarted', 404),
  ],
  ['one that is open then', { startsAt: MOMENT }, `?at=${MOMENT}`, goes('destination', at(''))],
  ['an expired link', { expiresAt: PAST }, '', page('expired', 410)],
  ['before it expires', { expiresAt: MOMENT }, '?at=2030-05-31T23:59:59.999Z', goes('destination', at(''))],
  ['when it expires', { expiresAt: MOMENT }, `?at=${MOMENT}`, page('expired', 410)],
  ['its expiredUrl', { expiresAt: PAST, expiredUrl: at('over') }, '', goes('expiredUrl', at('over'))],
  [
    'a password',
    { password: 'x', deviceTargeting: { ios: at('ios') } },
    '?device=ios',
    page('password', 200),
  ],
  ['a device', { deviceTargeting: { ios: at('ios') } }, '?device=ios', goes('device', at('ios'))],
  ['another device', { deviceTargeting: { ios: at('ios') } }, '?device=android', goes('destination', at(''))],
  ['no device named', { deviceTargeting: { desktop: at('d') } }, '', goes('device', at('d'))],
  ['a country', { geoTargeting: { DE: at('de') } }, '?country=de', goes('geo', at('de'))],
  ['no country', { geoTargeting: { DE: at('de') } }, '', goes('destination', at(''))],
  [
    'both',
    { geoTargeting: { DE: at('de') }, deviceTargeting: { android: at('a') } },
    '?country=DE&device=android',
    goes('device', at('a')),
  ],
]

onBothEngines('GET /links/:id/resolve', (server) => {
  test.each(CASES)('names the rule and the URL for %s', async (_, fields, query, answer) => {
    const ws = await server().createWorkspace()
    const { id } = await ws.createLink(fields)
    const { status, json } = await ws.api(`/links/${id}/resolve${query}`)
    expect([status, json.data]).toEqual([200, answer])
  })

  test('names used-up limits and unsafe URLs as the rule', async () => {
    const ws = await server().createWorkspace()
    const set = (id: number, change: object) =>
      server().app.db.write((connection) =>
        connection.updateTable('links').set(change).where('id', '=', id).execute(),
      )
    const rule = async (id: number) => (await ws.api(`/links/${id}/resolve`)).json.data
    const clicks = await ws.createLink({ clickLimit: 1 })
    const leads = await ws.createLink({ leadLimit: 1 })
    const unsafe = await ws.createLink({})
    expect((await rule(clicks.id)).rule).toBe('destination')
    expect((await rule(leads.id)).rule).toBe('destination')
    await server().click(clicks.slug)
    await set(leads.id, { leads: 1 })
    await set(unsafe.id, { destination_url: 'javascript:alert(1)' })
    expect(await rule(clicks.id)).toEqual(page('clickLimit', 410))
    expect(await rule(leads.id)).toEqual(page('leadLimit', 410))
    expect(await rule(unsafe.id)).toEqual(page('unsafe', 410))
  })

  test('counts no click and uses up no limit', async () => {
    const ws = await server().createWorkspace()
    const { id, slug } = await ws.createLink({ clickLimit: 1, trackConversions: true })
    const before = server().app.spool.stats().appended
    for (let n = 0; n < 3; n++) {
      expect((await ws.api(`/links/${id}/resolve`)).json.data).toEqual(goes('destination', at('')))
    }
    expect(server().app.spool.stats().appended).toBe(before)
    expect((await server().click(slug)).status).toBe(302)
  })

  test('rejects invalid parameters, and answers 404 to other workspaces', async () => {
    const ws = await server().createWorkspace()
    const { id } = await ws.createLink({})
    for (const query of `country=D country=DEU country= country=DE&country=FR device=phone device= os=beos at=yesterday
      at=2030-13-01T00:00:00Z ip=1.2.3.4`.split(/\s+/)) {
      const { status, json } = await ws.api(`/links/${id}/resolve?${query}`)
      expect([query, status, Object.keys(json.errors)]).toEqual([query, 422, [query.split('=')[0] ?? '']])
    }
    const stranger = await server().createWorkspace()
    expect((await stranger.api(`/links/${id}/resolve`)).json).toEqual({ error: 'Link not found' })
    await ws.delete(`/links/${id}`)
    expect((await ws.api(`/links/${id}/resolve`)).status).toBe(404)
  })
})
