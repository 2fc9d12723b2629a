// SQL that adds source and channel to rows, by the same rules as traffic-channel.ts. The lists are bound values, so every
// engine gets the same statement. docs/adr/0024-sources-and-channels.md says why they are no columns.

import type { FilterDialect, ValueBinder } from '../filter-sql.ts'
import { KNOWN_SOURCES } from './known-sources.ts'
import {
  CHANNEL_BY_KIND,
  CHANNEL_BY_MEDIUM,
  CHANNEL_BY_WORD,
  PAID_PREFIX,
  TRAFFIC_CHANNELS,
} from './traffic-channel.ts'

/** What each dimension is made of. */
export const ORIGIN_COLUMNS = {
  source: ['referrer'],
  channel: ['referrer', 'utmSource', 'utmMedium'],
} as const
export const ORIGIN_DIMENSIONS = ['source', 'channel'] as const
export type OriginDimension = (typeof ORIGIN_DIMENSIONS)[number]
export const isOriginDimension = (name: string): name is OriginDimension =>
  ORIGIN_DIMENSIONS.some((each) => each === name)

// An entry of a list is one text of fixed widths, because every engine can read a list of texts as a table.
const WORD_WIDTH = 64
const CHANNEL_WIDTH = Math.max(...TRAFFIC_CHANNELS.map(({ length }) => length))
const toEntry = (word: string, channel: string, source = '') =>
  word.padEnd(WORD_WIDTH) + channel.padEnd(CHANNEL_WIDTH) + source

const HOST_ENTRIES = KNOWN_SOURCES.flatMap(({ name, kind, hosts }) =>
  hosts.map((host) => toEntry(host, CHANNEL_BY_KIND[kind], name)),
)
const WORD_ENTRIES = Array.from(CHANNEL_BY_WORD, ([word, channel]) => toEntry(word, channel))
const MEDIUM_ENTRIES = Array.from(CHANNEL_BY_MEDIUM, ([word, channel]) => toEntry(word, channel))

/** What differs between engines. SQLite has none: see lead-origins.ts. */
export interface OriginDialect extends Pick<FilterDialect, 'lower'> {
  /** A table with the column `value`: the texts of a list. */
  listTable(list: string): string
  /** The last labels of a host. null or another text where it has fewer. */
  lastLabels(host: string, count: 2 | 3): string
}

/** The regular expression of `lastLabels`. */
export const toLastLabelsPattern = (count: number) => `${Array(count).fill('[^.]+').join('[.]')}$`

/**
 * Adds the dimension to the rows of a table with the columns `referrer`, `utm_source` and `utm_medium` (`referrer` alone
 * is enough for the source). Join it to few rows: to distinct values, not to every hit.
 * @param table a table or a subquery in brackets
 */
export function toOriginSql(
  table: string,
  dimensions: readonly OriginDimension[],
  dialect: OriginDialect,
  bind: ValueBinder,
): string {
  const toTable = (name: string, entries: string[]) =>
    `${name} AS MATERIALIZED (SELECT rtrim(substr(value, 1, ${WORD_WIDTH})) AS word,` +
    ` rtrim(substr(value, ${WORD_WIDTH + 1}, ${CHANNEL_WIDTH})) AS channel,` +
    ` substr(value, ${WORD_WIDTH + CHANNEL_WIDTH + 1}) AS source FROM ${dialect.listTable(bind(entries))} AS entries)`
  const tables = [toTable('known_hosts', HOST_ENTRIES)]
  const joins = [
    'LEFT JOIN known_hosts AS whole ON whole.word = raw.referrer',
    `LEFT JOIN known_hosts AS three ON three.word = ${dialect.lastLabels('raw.referrer', 3)}`,
    `LEFT JOIN known_hosts AS two ON two.word = ${dialect.lastLabels('raw.referrer', 2)}`,
  ]
  const columns = ['raw.*']
  if (dimensions.includes('source'))
    columns.push('coalesce(whole.source, three.source, two.source, raw.referrer) AS source')
  if (dimensions.includes('channel')) {
    const toWordSql = (column: string) =>
      `replace(replace(${dialect.lower(column)}, ${bind('_')}, ${bind('-')}), ${bind(' ')}, ${bind('-')})`
    const medium = toWordSql('raw.utm_medium')
    tables.push(toTable('known_words', WORD_ENTRIES), toTable('known_mediums', MEDIUM_ENTRIES))
    joins.push(
      `LEFT JOIN known_words AS words ON words.word = ${toWordSql('raw.utm_source')}`,
      `LEFT JOIN known_mediums AS mediums ON mediums.word = ${medium}`,
    )
    const paid = `CASE WHEN ${medium} LIKE ${bind(`${PAID_PREFIX}%`)} THEN ${bind('paid')} END`
    const byPresence = `CASE WHEN coalesce(raw.referrer, ${bind('')}) = ${bind('')} THEN ${bind('direct')} ELSE ${bind('referral')} END`
    columns.push(
      `coalesce(mediums.channel, ${paid}, words.channel, whole.channel, three.channel, two.channel, ${byPresence}) AS channel`,
    )
  }
  return `(WITH ${tables.join(', ')} SELECT ${columns.join(', ')} FROM ${table} AS raw ${joins.join(' ')})`
}
