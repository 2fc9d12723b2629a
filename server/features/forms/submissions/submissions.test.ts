import { beforeAll, describe, expect, test } from 'bun:test'
import { newestSubmission } from '../../../../tests/support/newest-submission.ts'
import {
  BROWSER_USER_AGENT,
  onBothEngines,
  type TestServer,
  type TestWorkspace,
} from '../../../../tests/support/world.ts'
import { insertSubmissions, type TestSubmission } from './submission.fixture.ts'

const at = (text: string) => Date.parse(text)

interface TestForm {
  ws: TestWorkspace
  formKey: string
  store(submissions: TestSubmission[]): Promise<number[]>
  ids(query?: string): Promise<number[]>
}

async function testForm(server: TestServer, ws?: TestWorkspace): Promise<TestForm> {
  const own = ws ?? (await server.createWorkspace())
  const { formKey } = await own.createForm()
  const { id } = await server.row('forms', { form_key: formKey })
  return {
    ws: own,
    formKey,
    store: (submissions) =>
      server.app.db.write((connection) =>
        insertSubmissions(connection, { workspaceId: own.id, formId: id }, submissions),
      ),
    async ids(query = '') {
      const answer = await own.api(`/forms/${formKey}/submissions?${query}`)
      if (answer.status !== 200) throw new Error(`${query}: ${answer.status} ${answer.text}`)
      expect(answer.json.total).toBeGreaterThanOrEqual(answer.json.data.length)
      return answer.json.data.map((each: { id: number }) => each.id)
    },
  }
}

// The engines search and count with other statements.
onBothEngines.quick('the list of submissions', (server) => {
  describe('is filtered', () => {
    let form: TestForm
    let stored: number[]

    beforeAll(async () => {
      form = await testForm(server())
      const other = await testForm(server(), form.ws)
      await other.store([{ country: 'DE', status: 'spam', email: 'ada@example.com' }])
      await (await testForm(server())).store([{ country: 'DE', status: 'spam' }])
      stored = await form.store([
        {
          fields: [
            ['email', 'Ada@Example.com'],
            ['message', 'GRÖßE 50% ΟΔΟΣ'],
          ],
          email: 'Ada@Example.com',
          status: 'read',
          country: 'DE',
          region: 'Berlin',
          city: 'Berlin',
          created_at: at('2026-03-01T00:00:00Z'),
        },
        {
          fields: [['snake_case', 'back\\slash']],
          link_id: 17,
          attribution: 'inferred',
          device: 'Mobile',
          browser: 'Safari',
          os: 'iOS',
          country: 'US',
          created_at: at('2026-03-02T23:59:59.999Z'),
        },
        {
          status: 'archived',
          referrer: 'search.example',
          utm_source: 'news',
          utm_medium: 'mail',
          utm_campaign: 'a,b',
          utm_term: '-x',
          utm_content: 'top',
          attribution: 'measured',
          created_at: at('2026-03-03T00:00:00Z'),
        },
      ])
    })

    // Numbers are indexes in `stored`. Answers have the newest first.
    test.each([
      ['', [2, 1, 0]],
      ['start=2026-03-02', [2, 1]],
      ['end=2026-03-02', [1, 0]],
      ['start=2026-03-02&end=2026-03-02', [1]],
      ['start=2026-03-02T23:59:59.999Z&end=2026-03-03T00:00:00Z', [1]],
      ['start=2026-03-03T02:00:00%2B02:00', [2]],
      ['search=größe', [0]],
      ['search=οδοσ', [0]],
      ['search=GROSSE', [0]],
      ['search=50%25%20%CE%BF%CE%B4%CE%BF%CF%82', [0]],
      ['search=hellö', [2]],
      ['search=%CC%88', []],
      ['search=50%25', [0]],
      ['search=%25', [0]],
      ['search=BACK%5CSLASH', [1]],
      // The search finds values only, because every submission has the same field names.
      ['search=snake', []],
      ['search=_', []],
      ['search=hello', [2]],
      ['search=', [2, 1, 0]],
      ['status=new', [1]],
      ['status=read', [0]],
      ['status=spam', []],
      ['email=ADA@example.COM', [0]],
      ['email=ada@example', []],
      ['linkId=17', [1]],
      ['linkId=18', []],
      ['attribution=inferred', [1]],
      ['attribution=none', [0]],
      ['attribution=pending', []],
      ['country=de', [0]],
      ['region=Berlin&city=Berlin', [0]],
      ['region=Berlin&city=Potsdam', []],
      ['device=Mobile', [1]],
      ['browser=Safari&os=iOS', [1]],
      ['referrer=search.example', [2]],
      ['utmSource=news&utmMedium=mail&utmTerm=-x&utmContent=top', [2]],
      ['utmCampaign=a,b', [2]],
      ['utmCampaign=a', []],
    ])('by %p', async (query, places) => {
      expect(await form.ids(query)).toEqual(places.map((place) => stored[place] as number))
      const { json } = await form.ws.api(`/forms/${form.formKey}/submissions?${query}`)
      expect(json.total).toBe(places.length)
    })

    test.each([
      [
        'start=yesterday',
        'start',
        'must be an ISO 8601 time or date, such as 2026-03-29 or 2026-03-29T12:00:00Z',
      ],
      [
        'end=2026-02-30',
        'end',
        'must be an ISO 8601 time or date, such as 2026-03-29 or 2026-03-29T12:00:00Z',
      ],
      ['start=2026-03-03&end=2026-03-02', 'start', 'must be before end'],
      ['status=open', 'status', 'must be one of new, read, archived, spam, unconfirmed'],
      ['attribution=maybe', 'attribution', 'must be one of measured, inferred, pending, none'],
      ['linkId=0', 'linkId', 'must be from 1 to 999999999999999'],
      ['status=new&status=read', 'status', 'must be given once: separate several by commas'],
      ['limit=101', 'limit', 'must be from 1 to 100'],
      ['name=ada', 'name', 'is not a known parameter'],
      ['cursor=x', 'cursor', 'is not a cursor of this list; start again without it'],
    ])('and rejects the filter %p', async (query, name, message) => {
      for (const path of ['submissions', 'submissions/export']) {
        if (path.endsWith('export') && /cursor|limit/.test(query)) continue
        const { status, json } = await form.ws.api(`/forms/${form.formKey}/${path}?${query}`)
        expect([status, json.errors]).toEqual([422, { [name]: message }])
      }
    })
  })

  test('comes in pages that stay correct while submissions are added, even within one millisecond', async () => {
    const form = await testForm(server())
    const stored = (await form.store(Array.from({ length: 7 }, () => ({})))).reverse()
    const seen: number[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = cursor ? `limit=3&cursor=${cursor}` : 'limit=3'
      const { json } = await form.ws.api(`/forms/${form.formKey}/submissions?${query}`)
      seen.push(...json.data.map(({ id }: { id: number }) => id))
      cursor = json.nextCursor
      await form.store([{}, { created_at: server().now() }])
    }
    expect(seen).toEqual(stored)
  })
})

onBothEngines('a submission', (server) => {
  test('has the fields in the sender’s order, and nothing that identifies the sender', async () => {
    const { ws, formKey, store } = await testForm(server())
    const fields: [string, string][] = [
      ['b', '1'],
      ['10', 'ten'],
      ['a', ''],
      ['2', '<b>&"'],
      ['__proto__', 'p'],
      ['constructor', 'c'],
    ]
    const [id] = await store([{ fields, visitor: '123456789', fingerprint: 'secret-print', notes: 'n' }])
    const { text, json, headers } = await ws.api(`/submissions/${id}`)
    const written = fields.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
    expect(text).toContain(`"fields":{${written.join()}}`)
    expect(headers.get('content-type')).toStartWith('application/json')
    expect(text).not.toMatch(/secret-print|123456789/)
    expect(Object.keys(json.data)).toEqual(
      (
        'id formKey formName fields files status test spamReasons consent notes assigneeId email duplicateOf referrer pageUrl ' +
        'landingUrl utmSource utmMedium utmCampaign utmTerm utmContent linkId link clickId eventId sessionLinked attribution device browser os ' +
        'country region city outcomes createdAt'
      ).split(' '),
    )
    expect(json.data).toMatchObject({ id, formKey, notes: 'n', sessionLinked: false, attribution: 'none' })
    for (const path of [
      `/forms/${formKey}/submissions`,
      `/forms/${formKey}/submissions/export?format=json`,
    ]) {
      expect((await ws.api(path)).text).toContain(`"fields":{${written.join()}}`)
    }
  })

  test('can change in status and notes only', async () => {
    const { ws, store } = await testForm(server())
    const [id, other] = await store([{}, {}])
    const change = (body: unknown) => ws.patch(`/submissions/${id}`, body)
    const { data: before } = (await ws.api(`/submissions/${id}`)).json
    for (const status of ['read', 'archived', 'spam', 'new']) {
      expect((await change({ status })).json.data).toEqual({ ...before, status })
    }
    const notes = `${'n'.repeat(9_998)}🙂\n`
    expect((await change({ notes, status: 'read' })).json.data).toEqual({ ...before, notes, status: 'read' })
    expect((await change({})).json.data).toEqual({ ...before, notes, status: 'read' })
    expect((await change({ notes: null, status: null })).json.data).toEqual(before)
    const refused: [unknown, object][] = [
      [{ status: 'done' }, { status: 'must be one of new, read, archived, spam' }],
      [{ notes: 'x'.repeat(10_001) }, { notes: 'must be at most 10000 characters' }],
      [{ fields: {} }, { fields: 'is not a known field' }],
      [{ email: 'x@y.example', status: 'spam' }, { email: 'is not a known field' }],
    ]
    for (const [body, errors] of refused) {
      const { status, json } = await change(body)
      expect([status, json.errors]).toEqual([422, errors])
    }
    expect((await ws.api(`/submissions/${id}`)).json.data).toEqual(before)
    expect((await ws.api(`/submissions/${other}`)).json.data.status).toBe('new')
  })

  test('is gone once it is deleted, and the answer shows it', async () => {
    const { ws, store, ids } = await testForm(server())
    const [id, other] = await store([{}, {}])
    const { data } = (await ws.api(`/submissions/${id}`)).json
    const gone = await ws.delete(`/submissions/${id}`)
    expect([gone.status, gone.json]).toEqual([200, { data }])
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { status: 'read' }],
      ['DELETE', '', undefined],
      ['GET', '/attribution', undefined],
    ] as const) {
      const answer = await ws.api(`/submissions/${id}${path}`, { method, body })
      expect([answer.status, answer.json]).toEqual([404, { error: 'Submission not found' }])
    }
    expect(await ids()).toEqual([other as number])
  })

  test('is deleted by one of many parallel requests', async () => {
    const { ws, store } = await testForm(server())
    const [id] = await store([{}])
    const tries = Array.from({ length: 8 }, () => ws.delete(`/submissions/${id}`))
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, ...Array.from({ length: 7 }, () => 404)])
  })
})

onBothEngines('the attribution of a submission', (server) => {
  const touchesOf = async (ws: TestWorkspace, id: number | undefined) =>
    (await ws.api(`/submissions/${id}/attribution`)).json.data

  test('shows in every answer the link that the same visitor clicked just before', async () => {
    const { ws, formKey, ids } = await testForm(server())
    const link = await ws.createLink()
    const visitor = { 'User-Agent': BROWSER_USER_AGENT }
    expect((await server().click(link.slug, visitor)).status).toBe(302)
    for (const message of ['first', 'second']) {
      const body = { message }
      await server().post(`/f/${formKey}`, body, visitor)
      await newestSubmission(ws, formKey)
      const [id] = await ids('attribution=inferred')
      const { data } = (await ws.api(`/submissions/${id}`)).json
      expect(data).toMatchObject({ fields: { message }, linkId: link.id, attribution: 'inferred' })
      expect(await touchesOf(ws, id)).toMatchObject([
        { type: 'click', linkId: link.id, clickId: data.clickId },
      ])
    }
  })

  test('lists the click and the campaign of the page in order, each with its reason', async () => {
    const { ws, store } = await testForm(server())
    const link = await ws.createLink({ slug: `Größe-${ws.id}` })
    const came = {
      page_url: 'https://shop.example/contact',
      utm_source: 'news',
      utm_campaign: 'spring',
      link_id: link.id,
      click_id: 'abc',
      attribution: 'inferred',
    }
    const [id, deleted] = await store([came, came])
    const touches = await touchesOf(ws, id)
    expect(touches.map(({ type }: { type: string }) => type)).toEqual(['click', 'campaign'])
    const [click, campaign] = touches
    expect(click).toMatchObject({ linkId: link.id, slug: link.slug, shortUrl: link.shortUrl, clickId: 'abc' })
    expect(click.why).toContain('30 minutes')
    expect(campaign).toMatchObject({
      utmSource: 'news',
      utmMedium: null,
      utmCampaign: 'spring',
      linkId: null,
      // The page of the form is no source of its own.
      referrer: null,
      pageUrl: 'https://shop.example/contact',
    })
    expect(new Set(touches.map((each: object) => Object.keys(each).join())).size).toBe(1)
    for (const each of touches)
      for (const value of Object.values(each)) expect(typeof value === 'object').toBe(value === null)
    // A deleted link keeps its slug and short URL.
    await ws.delete(`/links/${link.id}`)
    expect((await touchesOf(ws, deleted))[0]).toEqual(click)
  })
})
