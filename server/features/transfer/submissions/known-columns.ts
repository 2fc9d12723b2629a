// The columns that exports of form services add to the fields of a form: time, id, sender and source. Their order, and case,
// blanks, hyphens and underscores in their names do not matter.

import { toPlainName } from '../files/fields.ts'
import type { FileRecord } from '../files/source-file.ts'

/**
 * Plain names, the most reliable one first. If a file has several columns of a role, the others are fields of the form. `date`
 * comes last, because a form can have such a field.
 */
const NAMES = {
  time: [
    'createdat',
    'submittedat',
    'submissiondate',
    'submissiontime',
    'submittedon',
    'datesubmitted',
    'receivedat',
    'timestamp',
    'submitted',
    'created',
    'datetime',
    'date',
  ],
  id: ['submissionid', 'id', 'uuid'],
  address: ['ip', 'ipaddress', 'remoteip', 'clientip', 'senderip', 'userip'],
  userAgent: ['useragent'],
  page: ['pageurl', 'sourceurl', 'formurl'],
  referrer: ['referrer', 'referer', 'httpreferrer', 'httpreferer', 'referrerurl'],
  spam: ['spam', 'isspam'],
  utm_source: ['utmsource'],
  utm_medium: ['utmmedium'],
  utm_campaign: ['utmcampaign'],
  utm_term: ['utmterm'],
  utm_content: ['utmcontent'],
}
export type ColumnRole = keyof typeof NAMES
export type KnownColumns = Partial<Record<ColumnRole, string>>

/** Names of objects with the fields of a submission: `data` of Netlify, `payload_params` of Basin. */
const INNER = ['data', 'payload_params', 'payload', 'fields', 'values', 'form_data']

/** All records of a CSV file share one list of columns. */
const columnsByList = new WeakMap<readonly string[], KnownColumns>()

export function findKnownColumns({ columns, fields }: Pick<FileRecord, 'columns' | 'fields'>): KnownColumns {
  if (!columns) return findColumns([...fields.keys()])
  let known = columnsByList.get(columns)
  if (!known) {
    known = findColumns(columns)
    columnsByList.set(columns, known)
  }
  return known
}

function findColumns(columns: readonly string[]): KnownColumns {
  const byName = new Map<string, string>()
  for (const column of columns) {
    const name = toPlainName(column)
    // A form cannot have a field of this name, so it is the service's own column.
    if (!byName.has(name) || column.startsWith('_')) byName.set(name, column)
  }
  const found = Object.entries(NAMES).flatMap(([role, names]) => {
    const name = names.find((each) => byName.has(each))
    return name === undefined ? [] : [[role, byName.get(name)]]
  })
  return Object.fromEntries(found)
}

/** @returns the object with the fields of the form, if the service separates them from its own columns */
export function findInnerFields({ fields, columns }: FileRecord): ReadonlyMap<string, unknown> | undefined {
  if (columns) return undefined
  for (const name of INNER) {
    const value = fields.get(name)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return new Map(Object.entries(value))
  }
  return undefined
}
