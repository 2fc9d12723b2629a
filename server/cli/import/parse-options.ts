// Parses the options of `towpath import`: the same rules as those of POST /imports.

import { CreateImport, type CreateImportInput } from '../../features/transfer/schema.ts'
import { fieldErrors } from '../../http/validation.ts'
import { CommandError, type CommandOptions } from '../command.ts'

/** By the field of the API. */
const OPTION_NAMES: Record<string, string> = {
  source: '--source',
  onConflict: '--on-conflict',
  domainMap: '--domain-map',
  mapping: '--mapping',
  dateOrder: '--date-order',
  timeZone: '--time-zone',
}

/** @throws CommandError */
export function parseImportOptions(options: CommandOptions): CreateImportInput {
  const body = {
    source: options.source,
    dryRun: options['dry-run'],
    onConflict: options['on-conflict'],
    domainMap: parsePairs(options['domain-map'], '--domain-map'),
    mapping: parsePairs(options.mapping, '--mapping'),
    dateOrder: options['date-order'],
    timeZone: options['time-zone'],
  }
  const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
  const { data, error } = CreateImport.safeParse(given)
  if (data) return data
  const [field = '', message] = Object.entries(fieldErrors(error.issues, 'field'))[0] ?? []
  throw new CommandError(`${OPTION_NAMES[field.split('.')[0] ?? ''] ?? field} ${message}.`)
}

/** @param text `a=b,c=d` */
function parsePairs(text: string | undefined, option: string): Record<string, string> | undefined {
  if (text === undefined) return undefined
  const pairs = text.split(',').map((pair) => {
    const at = pair.indexOf('=')
    if (at < 1) throw new CommandError(`${option} is written as name=value,name=value.`)
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const
  })
  return Object.fromEntries(pairs)
}
