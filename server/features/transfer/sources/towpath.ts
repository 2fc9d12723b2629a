// Reads links of our own exports: the CSV and NDJSON of GET /links/export. The export of a whole workspace is a zip, which
// transfer/archive/ reads.

import { fromReversibleCell } from '../../../lib/formats/csv-line.ts'
import { parseJson } from '../../../lib/formats/parse-json.ts'
import { HOST_MAX } from '../../../lib/web-url.ts'
import { REDIRECT_STATUSES } from '../../links/schema.ts'
import { splitTexts } from '../export/joined-texts.ts'
import { FieldReader } from '../files/fields.ts'
import type { FileRecord } from '../files/source-file.ts'
import type { ImportSource, NewLink, ReadingOptions, SourceLink } from './source.ts'
import { LOST_PASSWORD, NO_DESTINATION, NO_DOMAIN } from './source-link.ts'

export const towpath: ImportSource = {
  name: 'towpath',
  title: 'Towpath',
  links: { lists: ['data'], tables: [] },
  isLinkFile: (columns) =>
    ['shortUrl', 'destinationUrl', 'passwordProtected', 'clicksBefore'].every((name) =>
      columns.includes(name),
    ),
  isCaseSensitive: true,
  readLink,
}

/** Restores the cells that the export has made safe for spreadsheets. */
const restoreCells = (record: FileRecord): FileRecord => ({
  ...record,
  fields: new Map(
    [...record.fields].map(([name, value]) => [
      name,
      typeof value === 'string' ? fromReversibleCell(value) : value,
    ]),
  ),
})

function readLink({ record, problems }: FieldReader, options: ReadingOptions): NewLink {
  const fields = new FieldReader(record.columns ? restoreCells(record) : record, '', problems)
  const isProtected = fields.flag('passwordProtected')
  const tags = fields.raw('tags')
  return {
    sourceKey: fields.text('shortUrl'),
    host: readHost(fields),
    slug: fields.text('slug'),
    destinationUrl: fields.required(NO_DESTINATION, 'destinationUrl'),
    title: fields.text('title'),
    comments: fields.text('comments'),
    tags: typeof tags === 'string' ? splitTexts(fields.text('tags') ?? '') : fields.list(/$^/, 'tags'),
    createdAt: fields.time(options, 'createdAt'),
    archived: isProtected || fields.flag('archived'),
    startsAt: fields.time(options, 'startsAt'),
    expiresAt: fields.time(options, 'expiresAt'),
    expiredUrl: fields.text('expiredUrl'),
    clickLimit: fields.number('clickLimit'),
    geoTargeting: readTargets(fields, 'geoTargeting'),
    deviceTargeting: readTargets(fields, 'deviceTargeting'),
    redirectStatus: readStatus(fields),
    forwardQuery: fields.flag('forwardQuery'),
    previewTitle: fields.text('previewTitle'),
    previewDescription: fields.text('previewDescription'),
    previewImage: fields.text('previewImage'),
    clicks: fields.number('clicks'),
    rules: readJsonList(fields, 'rules'),
    own: {
      externalId: fields.text('externalId'),
      leadLimit: fields.number('leadLimit'),
      trackConversions: fields.flag('trackConversions'),
      extraPath: fields.text('extraPath'),
      publicStats: fields.flag('publicStats'),
      split: readJsonList(fields, 'split'),
    },
    left: isProtected ? [LOST_PASSWORD] : [],
  }
}

/** Reads the host unchanged, because that of the old server can have a port. */
function readHost(fields: FieldReader): string | null {
  const domain = fields.text('domain')
  if (domain !== null && domain.length > HOST_MAX + ':65535'.length) fields.add('domain', domain, NO_DOMAIN)
  return domain?.toLowerCase() ?? null
}

/** Reads an object of URLs, which is JSON in CSV. */
function readTargets(fields: FieldReader, name: string): Record<string, string> {
  const value = fields.raw(name)
  if (value === undefined || value === null || value === '') return {}
  const targets = typeof value === 'string' ? parseJson(value) : value
  const isTable = typeof targets === 'object' && targets !== null && !Array.isArray(targets)
  if (isTable && Object.values(targets).every((url) => typeof url === 'string'))
    return { ...targets } as Record<string, string>
  fields.add(name, value, 'This must be an object of names and URLs, as JSON.')
  return {}
}

/** Reads redirect rules or variants, which are JSON in CSV. The rules of links check them later. */
function readJsonList(fields: FieldReader, name: string): unknown {
  const value = fields.raw(name)
  if (value === undefined || value === null || value === '') return null
  return typeof value === 'string' ? (parseJson(value) ?? value) : value
}

function readStatus(fields: FieldReader): SourceLink['redirectStatus'] {
  const status = fields.number('redirectStatus')
  const known = REDIRECT_STATUSES.find((each) => each === status)
  if (known === undefined && status !== null)
    fields.add('redirectStatus', String(status), `This must be one of ${REDIRECT_STATUSES.join(', ')}.`)
  return known ?? null
}
