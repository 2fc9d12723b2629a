import { expect, test } from 'bun:test'
import type { HttpAnswer } from '../../../tests/support/server/http-call.ts'
import { createTeam } from '../../../tests/support/users/signed-in-user.ts'
import { onBothEngines, type TestWorkspace } from '../../../tests/support/world.ts'

const U = 'https://example.com/'
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const NAMES =
  `id slug domain shortUrl destinationUrl title comments tags externalId archived startsAt expiresAt
  expiredUrl clickLimit leadLimit passwordProtected forwardQuery trackConversions geoTargeting deviceTargeting
  rules ruleWarnings extraPath publicStats split splitEndsAt splitResult redirectStatus previewTitle previewDescription previewImage suspended suspendedReason clicks clicksBefore leads lastClickedAt createdAt updatedAt`.split(
    /\s+/,
  )

/** Field, value sent, value answered, second value sent, second value answered, value after `null`. */
const FIELDS: [
  field: string,
  sent: unknown,
  back: unknown,
  other: unknown,
  otherBack: unknown,
  none: unknown,
][] = [
  ['title', 'One', 'One', 'Ünï 🙂', 'Ünï 🙂', null],
  ['comments', 'a\nb', 'a\nb', 'c', 'c', null],
  ['externalId', 'e-1', 'e-1', 'E/2', 'E/2', null],
  ['archived', true, true, false, false, false],
  [
    'startsAt',
    '2026-01-31T12:00:00Z',
    '2026-01-31T12:00:00.000Z',
    '2026-01-31T12:00:00.5+02:00',
    '2026-01-31T10:00:00.500Z',
    null,
  ],
  [
    'expiresAt',
    '2099-01-31T12:00:00Z',
    '2099-01-31T12:00:00.000Z',
    '2099-02-01T00:00:00.001Z',
    '2099-02-01T00:00:00.001Z',
    null,
  ],
  ['expiredUrl', 'https://example.com', U, 'https://example.org/x', 'https://example.org/x', null],
  ['clickLimit', 1, 1, 9_007_199_254_740_991, 9_007_199_254_740_991, null],
  ['leadLimit', 5, 5, 6, 6, null],
  ['forwardQuery', true, true, false, false, false],
  ['trackConversions', true, true, false, false, false],
  [
    'geoTargeting',
    { de: 'https://example.de', US: U },
    { DE: 'https://example.de/', US: U },
    { FR: U, AT: null },
    { FR: U },
    {},
  ],
  [
    'deviceTargeting',
    { ios: 'https://example.com' },
    { ios: U },
    { android: U, desktop: U, ios: null },
    { android: U, desktop: U },
    {},
  ],
  ['rules', [{ when: { language: ['DE'] }, to: U }], [{ when: { language: ['de'] }, to: U }], [], [], []],
  [
    'split',
    [
      { url: U, weight: 10, label: 'A' },
      { url: U, weight: 90, label: ' B ' },
    ],
    [
      { url: U, weight: 10, label: 'A' },
      { url: U, weight: 90, label: 'B' },
    ],
    null,
    null,
    null,
  ],
  ['extraPath', 'append', 'append', 'ignore', 'ignore', 'ignore'],
  ['publicStats', true, true, false, false, false],
  ['redirectStatus', 301, 301, 308, 308, 302],
  ['previewTitle', 'Card', 'Card', 'Ünï 🙂', 'Ünï 🙂', null],
  ['previewDescription', 'a', 'a', 'b', 'b', null],
  ['previewImage', 'https://example.com', U, 'https://example.org/x.png', 'https://example.org/x.png', null],
  ['domain', null, expect.any(String), null, expect.any(String), expect.any(String)],
]

/** Fields sent with a valid destination, and the errors in the answer. */
const REFUSED: [fields: Record<string, unknown>, errors: Record<string, unknown>][] = [
  [{ destinationUrl: undefined }, { destinationUrl: 'is required' }],
  [{ destinationUrl: null }, { destinationUrl: 'must be a string' }],
  [{ destinationUrl: 5 }, { destinationUrl: 'must be a string' }],
  [{ slug: 5 }, { slug: 'must be a string' }],
  [{ title: '' }, { title: 'must not be empty' }],
  [{ title: 'x'.repeat(501) }, { title: 'must be at most 500 characters' }],
  [{ comments: 'x'.repeat(5001) }, { comments: 'must be at most 5000 characters' }],
  [{ title: 'a\0b' }, { title: 'must not contain NUL or broken Unicode characters' }],
  [{ externalId: 'x'.repeat(256) }, { externalId: 'must be at most 255 characters' }],
  [{ archived: 'true' }, { archived: 'must be true or false' }],
  [{ startsAt: '2026-01-31' }, { startsAt: expect.stringContaining('ISO 8601') }],
  [
    { startsAt: '2026-01-31T12:00:00Z', expiresAt: '2026-01-31T12:00:00Z' },
    { expiresAt: 'must be after startsAt' },
  ],
  [{ clickLimit: 0 }, { clickLimit: 'must be at least 1' }],
  [{ leadLimit: 1.5 }, { leadLimit: 'must be a whole number' }],
  [{ redirectStatus: 303 }, { redirectStatus: 'must be one of 301, 302, 307, 308' }],
  [{ geoTargeting: { DEU: U } }, { 'geoTargeting.DEU': 'must be a two-letter country code' }],
  ...['ZZ', 'XX', 'EU', 'AP', 'A1', 'EN', 'SU', 'T1'].map(
    (code): [Record<string, unknown>, Record<string, string>] => [
      { geoTargeting: { [code]: U } },
      {
        [`geoTargeting.${code}`]: /\d/.test(code)
          ? 'must be a two-letter country code'
          : 'must be a country of ISO 3166-1, or XK',
      },
    ],
  ),
  [{ geoTargeting: { UK: U, gb: U } }, { geoTargeting: 'must name each country once' }],
  [{ geoTargeting: { DE: 5 } }, { 'geoTargeting.DE': 'must be a string' }],
  [{ geoTargeting: { de: U, DE: U } }, { geoTargeting: 'must name each country once' }],
  [{ geoTargeting: [U] }, { geoTargeting: 'must be an object of country codes and URLs' }],
  [{ deviceTargeting: { windows: U } }, { 'deviceTargeting.windows': 'is not a known field' }],
  [{ deviceTargeting: U }, { deviceTargeting: 'must be an object of ios, android, desktop' }],
  [{ domain: 'other.example' }, { domain: expect.stringContaining('is not a domain of this workspace') }],
  [{ password: '' }, { password: 'must not be empty' }],
  [{ utmSource: '' }, { utmSource: 'must not be empty' }],
  [{ clicks: 5 }, { clicks: 'is not a known field' }],
  [
    { id: 5, nope: 1 },
    { id: 'is not a known field', nope: 'is not a known field' },
  ],
  [
    { title: 5, slug: 'a b' },
    { title: 'must be a string', slug: 'may contain letters, digits, emoji, "-", "_", "." and "/" only' },
  ],
]

const inWords = (errors: Record<string, unknown>) =>
  Object.entries(errors)
    .map(([field, words]) => (typeof words === 'string' ? `${field}: ${words}` : field))
    .join(', ')

async function read(ws: TestWorkspace, id: number) {
  return (await ws.api(`/links/${id}`)).json.data
}

onBothEngines('the fields of a link', (server) => {
  test('have all names in an answer: absent values are null, ids integers, and times ISO 8601 with milliseconds', async () => {
    const ws = await server().createWorkspace()
    const { status, json } = await ws.api('/links', {
      method: 'POST',
      body: { destinationUrl: U, slug: 'All' },
    })
    expect(status).toBe(201)
    expect(Object.keys(json)).toEqual(['data'])
    expect(Object.keys(json.data).sort()).toEqual([...NAMES].sort())
    expect(json.data).toEqual({
      id: expect.any(Number),
      slug: 'All',
      domain: new URL(server().origin).host,
      shortUrl: `${server().origin}/All`,
      destinationUrl: U,
      title: null,
      comments: null,
      tags: [],
      externalId: null,
      archived: false,
      startsAt: null,
      expiresAt: null,
      expiredUrl: null,
      clickLimit: null,
      leadLimit: null,
      passwordProtected: false,
      forwardQuery: false,
      trackConversions: false,
      geoTargeting: {},
      deviceTargeting: {},
      redirectStatus: 302,
      previewTitle: null,
      previewDescription: null,
      rules: [],
      ruleWarnings: [],
      extraPath: 'ignore',
      publicStats: false,
      split: null,
      splitEndsAt: null,
      splitResult: null,
      previewImage: null,
      suspended: false,
      suspendedReason: null,
      clicks: 0,
      clicksBefore: 0,
      leads: 0,
      lastClickedAt: null,
      createdAt: expect.stringMatching(ISO),
      updatedAt: json.data.createdAt,
    })
    expect(Number.isSafeInteger(json.data.id)).toBe(true)
    expect(await read(ws, json.data.id)).toEqual(json.data)
    expect((await ws.api('/links')).json.data).toEqual([json.data])
  })

  test('are stored, read, changed, kept when absent and cleared with null', async () => {
    const ws = await server().createWorkspace()
    const body = Object.fromEntries(FIELDS.map(([field, sent]) => [field, sent]))
    const link = await ws.createLink(body)
    expect(link).toMatchObject(Object.fromEntries(FIELDS.map(([field, , back]) => [field, back])))
    expect(await read(ws, link.id)).toEqual(link)

    let before = link
    for (const [field, , , other, otherBack, none] of FIELDS) {
      for (const [value, back] of [
        [other, otherBack],
        [null, none],
      ]) {
        const changed = await ws.api(`/links/${link.id}`, { method: 'PATCH', body: { [field]: value } })
        expect([field, changed.status]).toEqual([field, 200])
        // The other fields are unchanged.
        expect(changed.json.data).toEqual({
          ...before,
          [field]: back,
          updatedAt: changed.json.data.updatedAt,
        })
        expect(await read(ws, link.id)).toEqual(changed.json.data)
        before = changed.json.data
      }
    }
  })

  test('can all be null, which leaves a link with only a destination', async () => {
    const ws = await server().createWorkspace()
    const nothing = Object.fromEntries(FIELDS.map(([field]) => [field, null]))
    const cleared = { ...nothing, password: null, tagIds: null, utmSource: null }
    const bare = await ws.createLink({ slug: 'bare' })
    const nulls = await ws.createLink({ slug: null, ...cleared })
    expect(nulls.slug).toHaveLength(7)
    const same = ({
      id: _,
      slug: __,
      shortUrl: ___,
      createdAt: _c,
      updatedAt: _u,
      ...rest
    }: Record<string, unknown>) => rest
    expect(same(nulls)).toEqual(same(bare))
    const full = await ws.createLink({
      ...Object.fromEntries(FIELDS.map(([field, sent]) => [field, sent])),
      tagNames: ['a'],
    })
    const { json } = await ws.api(`/links/${full.id}`, { method: 'PATCH', body: cleared })
    expect(same(json.data)).toEqual(same(bare))
    const slugless = await ws.api(`/links/${full.id}`, { method: 'PATCH', body: { slug: null } })
    expect(slugless.json.errors).toEqual({ slug: 'must be a string' })
  })

  test('do not change after an empty PATCH, not even updatedAt', async () => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink({ title: 'a', tagNames: ['x'], password: 'p', clickLimit: 3 })
    for (const body of [{}, '{}', undefined]) {
      const { status, json } = await ws.api(`/links/${link.id}`, { method: 'PATCH', body })
      expect([status, json.data]).toEqual([200, link])
    }
    expect(await read(ws, link.id)).toEqual(link)
  })

  test('change updatedAt with every change, and createdAt never', async () => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink()
    server().advanceClock(1)
    const { json } = await ws.api(`/links/${link.id}`, { method: 'PATCH', body: { title: 'b' } })
    expect(json.data.updatedAt > link.updatedAt).toBe(true)
    expect(json.data.createdAt).toBe(link.createdAt)
  })

  test.each(REFUSED.map(([fields, errors]) => [inWords(errors), fields, errors] as const))(
    'create and update refuse and store nothing: %s',
    async (_, fields, errors) => {
      const ws = await server().createWorkspace()
      const created = await ws.api('/links', { method: 'POST', body: { destinationUrl: U, ...fields } })
      expect([created.status, created.json.errors]).toEqual([422, errors])
      const [field, message] = Object.entries(created.json.errors)[0] as [string, string]
      expect(created.json.error).toBe(`${field}: ${message}`)
      expect((await ws.api('/links?archived=all')).json.total).toBe(0)
      if (Object.values(fields)[0] === undefined) return
      const link = await ws.createLink()
      const changed = await ws.api(`/links/${link.id}`, {
        method: 'PATCH',
        body: { comments: 'c', ...fields },
      })
      expect([changed.status, changed.json.errors]).toEqual([422, errors])
      expect(await read(ws, link.id)).toEqual(link)
    },
  )

  test('refuse an end in the past to people, with what to do, and let programs carry one over', async () => {
    const team = await createTeam(server())
    const past = new Date(server().now() - 60_000).toISOString()
    const future = new Date(server().now() + 60_000).toISOString()
    const destinationUrl = 'https://example.com/'
    const ask = async (method: string, path: string, body: unknown) => {
      const { status, json } = await team.owner.apiIn(team.id, path, { method, body })
      return [status, ...Object.entries(json.errors ?? {}).flat()]
    }
    const created = await team.owner.apiIn(team.id, '/links', {
      method: 'POST',
      body: { destinationUrl, expiresAt: future },
    })
    const { id } = created.json.data
    const refused = 'must be in the future. To stop the link now, archive it'
    for (const [method, path, body, field] of [
      ['POST', '/links', { destinationUrl, expiresAt: past }, 'expiresAt'],
      ['PATCH', `/links/${id}`, { expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
      ['PUT', '/links/upsert', { destinationUrl, externalId: 'new', expiresAt: past }, 'expiresAt'],
      ['POST', '/links/bulk', { links: [{ destinationUrl, expiresAt: past }] }, '0.expiresAt'],
      ['PATCH', '/links/bulk', { links: [{ id, expiresAt: past }] }, '0.expiresAt'],
    ] as const)
      expect(await ask(method, path, body)).toEqual([422, field, refused])
    server().advanceClock(120_000)
    expect(await ask('PATCH', `/links/${id}`, { title: 'Over', expiresAt: future })).toEqual([200])
    const ws = await server().createWorkspace()
    expect((await ws.createLink({ expiresAt: past })).expiresAt).toBe(past)
  })

  test('check a new date against the stored one', async () => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink({ startsAt: '2026-02-01T00:00:00Z' })
    const { status, json } = await ws.api(`/links/${link.id}`, {
      method: 'PATCH',
      body: { expiresAt: '2026-01-01T00:00:00Z' },
    })
    expect([status, json.errors]).toEqual([422, { expiresAt: 'must be after startsAt' }])
    expect(await read(ws, link.id)).toEqual(link)
  })

  test('store a password as Argon2id, and show it in no answer', async () => {
    const ws = await server().createWorkspace()
    const secret = 'Öpen-sesame-42'
    const answers = [
      await ws.api('/links', {
        method: 'POST',
        body: { destinationUrl: U, slug: `pw-${server().engine}`, password: secret },
      }),
    ]
    const { id } = (answers[0] as HttpAnswer).json.data
    const stored = async () => {
      const row = await server()
        .app.db.read.selectFrom('links')
        .select('password_hash')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      return row.password_hash
    }
    const hash = await stored()
    expect(hash).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$')
    answers.push(await ws.api(`/links/${id}`))
    answers.push(await ws.api('/links'))
    answers.push(await ws.api(`/links/${id}`, { method: 'PATCH', body: { title: 'kept' } }))
    expect(await stored()).toBe(hash)
    answers.push(await ws.api(`/links/${id}`, { method: 'PATCH', body: { password: secret } }))
    expect(await stored()).not.toBe(hash)
    answers.push(
      await ws.api('/links/bulk', { method: 'PATCH', body: { ids: [id], data: { password: secret } } }),
    )
    answers.push(
      await ws.api('/links/upsert', { method: 'PUT', body: { destinationUrl: U, password: secret } }),
    )
    answers.push(await ws.api(`/links/${id}/resolve`))
    for (const { status, text, json } of answers) {
      expect(status).toBeLessThan(300)
      expect(text).not.toContain(secret)
      expect(text).not.toContain('argon2')
      if (json.data.id)
        expect([json.data.passwordProtected, json.data]).toEqual([
          true,
          expect.not.objectContaining({ password: expect.anything() }),
        ])
    }
    const cleared = await ws.api(`/links/${id}`, { method: 'PATCH', body: { password: null } })
    expect(cleared.json.data.passwordProtected).toBe(false)
    expect(await stored()).toBeNull()
  })

  test('make an external id unique in its workspace, until the link is deleted', async () => {
    const [ws, other] = [await server().createWorkspace(), await server().createWorkspace()]
    const link = await ws.createLink({ externalId: 'crm-1' })
    const second = await ws.createLink({ externalId: 'crm-2' })
    const taken = [409, { error: 'External id already in use' }]
    const again = await ws.api('/links', { method: 'POST', body: { destinationUrl: U, externalId: 'crm-1' } })
    expect([again.status, again.json]).toEqual(taken)
    const renamed = await ws.api(`/links/${second.id}`, { method: 'PATCH', body: { externalId: 'crm-1' } })
    expect([renamed.status, renamed.json]).toEqual(taken)
    expect((await read(ws, second.id)).externalId).toBe('crm-2')
    expect((await ws.api('/links')).json.total).toBe(2)
    expect(
      (await ws.api(`/links/${link.id}`, { method: 'PATCH', body: { externalId: 'crm-1' } })).status,
    ).toBe(200)
    await other.createLink({ externalId: 'crm-1' })
    await ws.api(`/links/${link.id}`, { method: 'DELETE' })
    await ws.createLink({ externalId: 'crm-1' })
  })
})

onBothEngines(
  'two changes within one millisecond',
  (server) => {
    test('are both made, each with a later updatedAt, also when the second changes nothing', async () => {
      const ws = await server().createWorkspace()
      const link = await ws.createLink({ title: 'a' })
      let last = link.updatedAt
      for (const body of [{ title: 'a' }, { tagNames: ['t'] }, { title: 'b' }, { password: null }]) {
        const { status, json } = await ws.api(`/links/${link.id}`, { method: 'PATCH', body })
        expect([body, status, json.data.updatedAt > last]).toEqual([body, 200, true])
        last = json.data.updatedAt
      }
      expect(await read(ws, link.id)).toMatchObject({ title: 'b', tags: [{ name: 't' }] })
    })
  },
  { now: () => 1_900_000_000_000 },
)
