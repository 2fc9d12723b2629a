// Domains as JSON: the API validates requests with these schemas, and its reference is generated from them.

import { z } from '@hono/zod-openapi'
import { flag, PAGE_PARAMETERS, text } from '../../../lib/api-fields.ts'
import { URL_MAX } from '../../../lib/web-url.ts'

/** Longer texts are no names. */
const NAME_INPUT_MAX = 1000
/** The size of each file below `/.well-known/`, as UTF-8. */
const FILE_MAX = 64 * 1024

export const DNS_RECORD_TYPES = ['TXT', 'CNAME', 'A', 'AAAA', 'ALIAS'] as const

const DnsRecordShape = z
  .strictObject({
    type: z.enum(DNS_RECORD_TYPES).openapi({
      description: 'ALIAS: what your DNS provider calls ALIAS, ANAME or CNAME flattening',
    }),
    name: z.string(),
    value: z.string(),
    ok: z.boolean().nullable().openapi({ description: 'Of the last check; null where it could not tell' }),
  })
  .openapi('DnsRecord')

const assetLinks = z.array(z.looseObject({}))
const appleAppSiteAssociation = z.looseObject({})

export const DomainShape = z
  .strictObject({
    id: z.int(),
    domain: z.string().openapi({ description: 'In ASCII form (IDNA)' }),
    verified: z.boolean().openapi({ description: 'Only a verified domain answers' }),
    dns: z.array(DnsRecordShape).openapi({
      description:
        'The records to set: the TXT record that proves ownership, then the records that lead visitors here',
    }),
    problem: z.string().nullable().openapi({ description: 'The problem that the last check found' }),
    primary: z.boolean().openapi({ description: 'New links are made here' }),
    caseSensitive: z.boolean(),
    rootUrl: z.string().nullable(),
    notFoundUrl: z.string().nullable(),
    expiredUrl: z.string().nullable(),
    links: z.int().openapi({ description: 'How many links there are, without the trash' }),
    assetLinks: assetLinks.nullable(),
    appleAppSiteAssociation: appleAppSiteAssociation.nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .openapi('Domain')

export type DomainResource = z.infer<typeof DomainShape>
export type DnsRecord = z.infer<typeof DnsRecordShape>

const url = (description: string) => text(1, URL_MAX).nullable().optional().openapi({ description })

const fitsFile = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) <= FILE_MAX
const FILE_TOO_LARGE = 'must be at most 64 KiB of JSON'

const settings = {
  rootUrl: url('Where the domain itself leads to; a plain page when null'),
  notFoundUrl: url('Where unknown slugs lead to; `{slug}` in its path or query becomes the slug'),
  expiredUrl: url(
    'Where links that are over lead to, unless they say it themselves; `{slug}` as in notFoundUrl',
  ),
  assetLinks: z
    .array(z.looseObject({}, { error: 'must be an object' }), { error: 'must be a list of objects' })
    .refine(fitsFile, FILE_TOO_LARGE)
    .nullable()
    .optional()
    .openapi({ description: 'Served as `/.well-known/assetlinks.json`' }),
  appleAppSiteAssociation: z
    .looseObject({}, { error: 'must be an object' })
    .refine(fitsFile, FILE_TOO_LARGE)
    .nullable()
    .optional()
    .openapi({ description: 'Served as `/.well-known/apple-app-site-association`' }),
}

export const CreateDomain = z
  .strictObject({
    domain: text(1, NAME_INPUT_MAX).openapi({ example: 'go.example.com' }),
    caseSensitive: flag()
      .nullable()
      .optional()
      .openapi({ description: 'Whether `/Sale` and `/sale` are two links. It cannot be changed later' }),
    ...settings,
  })
  .openapi('CreateDomain')
export const UpdateDomain = z
  .strictObject({
    primary: flag()
      .nullable()
      .optional()
      .openapi({ description: 'true takes it from the domain that has it. Only a verified domain has it' }),
    ...settings,
  })
  .openapi('UpdateDomain')

export type CreateDomainInput = z.infer<typeof CreateDomain>
export type UpdateDomainInput = z.infer<typeof UpdateDomain>

export const DomainListQuery = z.strictObject(PAGE_PARAMETERS)
export type DomainListQueryInput = z.infer<typeof DomainListQuery>

export const DeleteDomainQuery = z.strictObject({
  moveTo: z
    .string({ error: 'must be given once' })
    .regex(/^(?:default|[1-9]\d{0,14})$/, 'must be the id of a domain, or default')
    .optional()
    .openapi({
      type: 'string',
      pattern: '^(default|[1-9]\\d{0,14})$',
      maxLength: 15,
      description:
        'Where its links move: the id of another domain of the workspace, or `default` for the default domain',
    }),
})
