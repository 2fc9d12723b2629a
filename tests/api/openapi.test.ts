// The OpenAPI document is complete and passes the linter, and /docs shows it with files of our own origin only.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { quick } from '../support/suite.ts'
import { startServer, type TestServer } from '../support/world.ts'
import {
  documentedOperations,
  findBodySchema,
  listParameters,
  mountedRoutes,
  openApi,
  resolveSchema,
  type Schema,
} from './openapi-document.ts'
import { OPERATION_SCOPES } from './operation-scopes.ts'

/** The document does not describe the route that serves the document. */
const UNDESCRIBED = ['GET /v1/openapi.json']

const PERSON = { session: [] }
const IN_WORKSPACE = { session: [], workspace: [] }

/** The security of the operations that differ from the default: an API key with its scopes, or a user in a workspace. */
const SECURITY_BY_OPERATION: Record<string, object[]> = {
  listWorkspaces: [{ apiKey: [] }, PERSON],
  createWorkspace: [PERSON],
  updateWorkspace: [IN_WORKSPACE],
  deleteWorkspace: [IN_WORKSPACE],
  listAuditEvents: [IN_WORKSPACE],
  exportAuditEvents: [IN_WORKSPACE],
  getDoctorReport: [IN_WORKSPACE],
  listMembers: [IN_WORKSPACE],
  updateMember: [IN_WORKSPACE],
  removeMember: [IN_WORKSPACE],
  listInvitations: [IN_WORKSPACE],
  createInvitation: [IN_WORKSPACE],
  acceptInvitation: [PERSON],
  deleteInvitation: [IN_WORKSPACE],
  listApiKeys: [IN_WORKSPACE],
  createApiKey: [IN_WORKSPACE],
  revokeApiKey: [IN_WORKSPACE],
}

describe('the document at /v1/openapi.json', () => {
  const { answer, document } = openApi

  test('is OpenAPI 3.1 and needs no key', () => {
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toStartWith('application/json')
    expect(answer.headers.get('x-request-id')).toBeString()
    expect(document.openapi).toMatch(/^3\.1\.\d+$/)
  })

  quick('passes the linter without an error or a warning', async () => {
    expect(await lint(answer.text)).toEqual([])
  })

  test('a document without a title does not pass', async () => {
    expect(await lint('{"openapi":"3.1.0","info":{},"paths":{}}')).not.toEqual([])
  })

  test('describes every mounted route and no other', () => {
    const described = documentedOperations.map(({ method, path }) => `${method} ${path}`)
    expect([...described, ...UNDESCRIBED].sort()).toEqual([...mountedRoutes].sort())
  })

  test.each(documentedOperations)(
    'gives $method $path an id, a summary, its security and its error answers',
    (operation) => {
      const { method, summary, security, requestBody, responses } = operation
      expect(operation.id).toMatch(/^[a-z][A-Za-z0-9]*$/)
      expect(summary).toBeString()
      expect(security).toEqual(
        (SECURITY_BY_OPERATION[operation.id] ?? [
          { apiKey: OPERATION_SCOPES[operation.id] },
          IN_WORKSPACE,
        ]) as typeof security,
      )
      const always = ['401', '403', '422', '429', '500', '503']
      const body = requestBody ? ['400', '413', '415'] : []
      const path = listParameters('path', operation).length > 0 ? ['404'] : []
      expect(Object.keys(responses)).toEqual(expect.arrayContaining([...always, ...body, ...path]))
      expect(Object.keys(responses).filter((status) => status.startsWith('2'))).not.toBeEmpty()
      expect(method === 'GET' && requestBody).toBeFalsy()
    },
  )

  test.each(documentedOperations)(
    'sets a maximum length for every text that $method $path takes',
    (operation) => {
      const parameters = operation.parameters.flatMap(({ name, schema }) => findUnboundedTexts(schema, name))
      const body = findBodySchema(operation)
      expect([...parameters, ...(body ? findUnboundedTexts(body, 'body') : [])]).toEqual([])
    },
  )

  test('gives every operation another id', () => {
    const ids = documentedOperations.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})

/** The errors and warnings that the recommended rules find. All of these rules are on. */
async function lint(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config })
  return problems.map(({ ruleId, severity, message, location }) => {
    return `${severity} ${ruleId} ${location[0]?.pointer}: ${message}`
  })
}

/** @returns the locations in a schema where a text may have any length */
function findUnboundedTexts(written: Schema, at: string): string[] {
  const schema = resolveSchema(written)
  const own =
    [schema.type].flat().includes('string') &&
    schema.maxLength === undefined &&
    schema.enum === undefined &&
    schema.pattern === undefined &&
    schema.format !== 'date-time'
      ? [at]
      : []
  const inner = [
    ...Object.entries(schema.properties ?? {}).map(([name, each]) => [`${at}.${name}`, each] as const),
    ...(schema.items ? [[`${at}[]`, schema.items] as const] : []),
    ...(schema.anyOf ?? []).map((each) => [at, each] as const),
    ...(typeof schema.additionalProperties === 'object'
      ? [[`${at}.*`, schema.additionalProperties] as const]
      : []),
  ]
  return [...own, ...inner.flatMap(([name, each]) => findUnboundedTexts(each, name))]
}

describe('the API reference at /docs', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer('sqlite')
  })
  afterAll(() => server.close())

  const findForeignAddresses = (text: string) => text.match(/(?:https?:)?\/\/[\w.-]+\.\w+/g) ?? []

  test('is a page that loads nothing from another origin, and whose policy allows nothing else', async () => {
    const { status, headers, text } = await server.call('/docs')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toStartWith('text/html')
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/\*|https?:|script-src[^;]*'unsafe/)
    expect(findForeignAddresses(text)).toEqual([])
    expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=/i)
  })

  test('refers only to files that our own origin serves with the right type', async () => {
    const { text } = await server.call('/docs')
    const files = [...text.matchAll(/<(script|link)\b[^>]*\b(?:src|href)="(\/[^"]*)"/g)]
    expect(files.map(([, tag]) => tag).sort()).toContain('script')
    for (const [, tag, path] of files) {
      const { status, headers, text: body } = await server.call(path as string)
      expect(status).toBe(200)
      expect(headers.get('content-type')).toStartWith(tag === 'script' ? 'text/javascript' : 'text/css')
      expect(body.length).toBeGreaterThan(50)
      // A style sheet loads these addresses by itself. Scripts may contain addresses as text.
      if (tag === 'link') expect(body.match(/@import|url\(\s*['"]?(?:https?:)?\/\//g)).toBeNull()
    }
  })

  test('shows the document of the same server', async () => {
    expect((await server.call('/docs/reference.js')).text).toContain("fetch('/v1/openapi.json')")
  })

  test('answers 404 for any other file', async () => {
    for (const path of ['/docs/nothing.js', '/docs/..%2fpackage.json', '/docs/swagger-ui.js', '/docs/%00']) {
      expect((await server.call(path)).status).toBe(404)
    }
  })
})
