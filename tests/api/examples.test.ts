// Every example of the OpenAPI document works as it stands in a new workspace: "Try it out" and "Execute" are enough. Only
// what names a thing that must exist first is filled in, with the things that the examples before it have made.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTeam, type Team } from '../support/users/signed-in-user.ts'
import { DEAD_MAIL_SERVER, startServer, type TestServer } from '../support/world.ts'
import { documentedOperations, getOperation, type Operation, openApi } from './openapi-document.ts'
import { toAuthHeaders } from './sample-requests.ts'

const TAGS_IN_ORDER = [
  'Links',
  'Destinations',
  'Tags',
  'UTM templates',
  'Domains',
  'Import and export',
  'Analytics',
  'Views',
  'Forms',
  'Submissions',
  'Channels',
  'Deliveries',
  'Workspaces',
  'Members',
  'API keys',
  'Audit log',
  'Server',
]

/** Examples that cannot work in a new workspace, and what else is right for them. */
const EXPECTED_STATUS: Record<string, { status: number; why: string }> = {
  acceptInvitation: { status: 404, why: 'the token of an invitation is known to the invited person alone' },
  verifyProof: { status: 404, why: 'a day of a new workspace closes a day later' },
  deleteWorkspace: { status: 422, why: 'has no example: its parameter is the name of the workspace' },
}

const getTag = (operation: Operation) => operation.tags?.[0] ?? ''
const isDeletion = ({ method }: Operation) => method === 'DELETE'

const getPlace = (operation: Operation) => TAGS_IN_ORDER.indexOf(getTag(operation))

/** Group by group, creation first. Deletions come last and the other way round: a form's end is its submissions' end. */
const inOrder = [
  ...documentedOperations
    .filter((each) => !isDeletion(each))
    .toSorted(
      (a, b) =>
        getPlace(a) - getPlace(b) || Number(b.id.startsWith('create')) - Number(a.id.startsWith('create')),
    ),
  ...documentedOperations
    .filter((each) => isDeletion(each) && each.id !== 'deleteWorkspace')
    .toSorted((a, b) => getPlace(b) - getPlace(a)),
  getOperation('deleteWorkspace'),
]

describe('the examples of the API reference', () => {
  let server: TestServer
  let own: Team
  const ids: Record<string, string | number> = {}

  beforeAll(async () => {
    server = await startServer('sqlite', { environment: DEAD_MAIL_SERVER })
    own = await createTeam(server)
  })
  afterAll(() => server?.close())

  test('come in the order of the work: links first', () => {
    expect(openApi.document.tags?.map(({ name }) => name)).toEqual(TAGS_IN_ORDER)
    expect(documentedOperations.filter((each) => !TAGS_IN_ORDER.includes(getTag(each)))).toEqual([])
    const links = documentedOperations.filter((each) => getTag(each) === 'Links').map(({ path }) => path)
    expect([...new Set(links)].slice(0, 2)).toEqual(['/v1/links', '/v1/links/{id}'])
  })

  test.each(documentedOperations)(
    '$method $path has a body to send, and says where its ids come from',
    (operation) => {
      if (operation.requestBody) {
        expect(operation.requestBody.content['application/json']?.example).toBeDefined()
      }
      for (const { in: place, description } of operation.parameters)
        if (place === 'path')
          expect(description).toMatch(/^Of one that exists: `GET \/v1\/[\w-]+` lists them$/)
    },
  )

  /** The ids of two things of the group, as a list in a query has them: not the one that other paths name, if possible. */
  async function listIds(path: string, named: unknown) {
    const { json } = await own.api(`/${path.split('/')[2]}`)
    const found = json.data.map(({ id }: { id: number }) => id) as number[]
    return [...found.filter((id) => id !== named), ...found].slice(0, 2).join(',')
  }

  /** The path with the ids of things that exist, and its required parameters as in the example. */
  async function toUrl({ path, parameters, tags }: Operation, optional?: string) {
    const name = (key: string) => (key === 'formKey' ? 'formKey' : `${tags?.[0]} ${path.split('/')[2]}`)
    const filled = path.replace(/\{(\w+)\}/g, (_, key) => String(ids[name(key)] ?? 1))
    const query = parameters
      .filter((each) => each.in === 'query' && (each.required || each.name === optional))
      .map((each): [string, string] => [each.name, String(each.example ?? each.schema.example)])
    if (query.length === 0) return filled
    const values = new URLSearchParams(query)
    if (values.has('ids')) values.set('ids', await listIds(path, ids[name('id')]))
    return `${filled}?${values}`
  }

  async function execute(operation: Operation, optional?: string) {
    const body = operation.requestBody?.content['application/json']?.example
    return server.call(await toUrl(operation, optional), {
      method: operation.method,
      body,
      headers: toAuthHeaders(operation, own),
    })
  }

  /** Things that the examples cannot make: a visitor sends a submission, the server a delivery. */
  async function makeRest(operation: Operation) {
    // Each deletion takes what the one before it has left.
    const isNeeded = isDeletion(operation) || !ids['Submissions submissions']
    if (getTag(operation) === 'Submissions' && isNeeded) {
      await own.api(`/forms/${ids.formKey}`, { method: 'PATCH', body: { uploads: {} } })
      const body = new FormData()
      body.append('email', 'ada@example.com')
      body.append('message', 'Hello')
      body.append('photo', new File(['a photo'], 'photo.txt'))
      const headers = { Accept: 'application/json' }
      const sent = await fetch(`${server.origin}/f/${ids.formKey}`, { method: 'POST', headers, body })
      expect(await sent.json()).toEqual({ ok: true })
      const [stored] = (await own.api('/submissions')).json.data
      ids['Submissions submissions'] = stored.id
      ids['Submissions files'] = stored.files[0].id
    }
    if (operation.id === 'getSplit') {
      const split = ['A', 'B'].map((label) => ({ url: `https://example.com/${label}`, weight: 50, label }))
      await own.api(`/links/${ids['Links links']}`, { method: 'PATCH', body: { split } })
    }
    if (operation.id.startsWith('restoreLink'))
      await own.api(`/links/${ids['Links links']}`, { method: 'DELETE' })
    if (getTag(operation) === 'Members' && !ids['Members members']) {
      ids['Members members'] = own.member.id
    }
  }

  test.each(inOrder)('$method $path succeeds as it stands', async (operation) => {
    await makeRest(operation)
    // A stream has no end without it.
    const optional = operation.id === 'streamLive' ? 'seconds' : undefined
    const { status, json, text } = await execute(operation, optional)
    const expected = EXPECTED_STATUS[operation.id]?.status
    const isRight = expected === undefined ? status >= 200 && status < 300 : status === expected
    expect(isRight ? 'ok' : `${status} ${text}`).toBe('ok')
    remember(operation, json)
  })

  // biome-ignore lint/suspicious/noExplicitAny: the answers of all operations
  function remember({ id, path, tags, method }: Operation, json: any) {
    const data = json?.data
    const made = Array.isArray(data) ? data[0] : data
    if (id === 'createForm') ids.formKey = data.formKey
    if (id === 'upsertLink') ids['Links links'] = data.id
    if (id === 'testChannel') ids['Deliveries deliveries'] = data.id
    if (method === 'POST' && made?.id && id.startsWith('create')) {
      const name = `${tags?.[0]} ${path.split('/')[2]}`
      ids[name] ??= made.id
    }
  }

  test('optional parameters take the values that the reference names', async () => {
    const results: string[] = []
    const fresh = await own.api('/forms', { method: 'POST', body: getExample('createForm') })
    ids.formKey = fresh.json.data.formKey
    ids['Links links'] = (await own.createLink()).id
    for (const operation of documentedOperations.filter(({ method }) => method === 'GET')) {
      if (/^\/v1\/(?:submissions|deliveries)\/\{/.test(operation.path)) continue
      for (const { name, in: place, required, example, schema } of operation.parameters) {
        if (place !== 'query' || required || (example ?? schema.example) === undefined) continue
        const { status, text } = await execute(operation, name)
        if (status !== 200) results.push(`${operation.id} ${name}: ${status} ${text}`)
      }
    }
    expect(results).toEqual([])
  })
})

const getExample = (id: string) => getOperation(id).requestBody?.content['application/json']?.example
