// SQL that adds source and channel to rows, by the same rules as traffic-channel.ts. The lists are bound values, so every
// engine gets the same statement. docs/adr/0024-sources-and-channels.md says why they are not stored.

import type { FilterDialect, ValueBinder } from '../filter-sql.ts'
import { KNOWN_SOURCES } from './known-sources.ts'
import {
  CHANNEL_BY_KIND,
  CHANNEL_BY_MEDIUM,
  PAID_PREFIX,
  SOURCE_WORDS,
  TRAFFIC_CHANNELS,
} from './traffic-channel.ts'

/** The columns behind each dimension. */
export const ORIGIN_COLUMNS = {
  source: ['referrer', 'utmSource'],
  channel: ['referrer', 'utmSource', 'utmMedium'],
} as const
export const ORIGIN_DIMENSIONS = ['source', 'channel'] as const
export type OriginDimension = (typeof ORIGIN_DIMENSIONS)[number]
export const isOriginDimension = (name: string): name is OriginDimension =>
  ORIGIN_DIMENSIONS.some((each) => each === name)

interface Word {
  word: string
  channel: string
  source: string
}

/** Known words. The names are those of tables in a statement. */
const KNOWN = {
  known_hosts: KNOWN_SOURCES.flatMap(({ name, kind, hosts }) =>
    hosts.map((word): Word => ({ word, channel: CHANNEL_BY_KIND[kind], source: name })),
  ),
  known_words: Array.from(SOURCE_WORDS, ([word, { channel, source }]): Word => ({ word, channel, source })),
  known_mediums: Array.from(CHANNEL_BY_MEDIUM, ([word, channel]): Word => ({ word, channel, source: '' })),
}
type KnownName = keyof typeof KNOWN

interface WordDialect extends Pick<FilterDialect, 'lower'> {
  /** The last labels of a host. null or another text if it has fewer. */
  lastLabels(host: string, count: 2 | 3): string
}

/** An engine that finds words by joins. SQLite does not use this: see lead-origins.ts. */
export interface OriginJoinDialect extends WordDialect {
  /** A table with the column `value`: the texts of a list. */
  listTable(list: string): string
}

/** An engine with a function that finds a word in a list. Such a function is faster than joins. */
export interface OriginLookUpDialect extends WordDialect {
  /** The text of `values` at the position of the word in `keys`; null if `keys` does not have it. */
  lookUp(word: string, keys: string, values: string): string
}

/** The regular expression of `lastLabels`. */
export const toLastLabelsPattern = (count: number) => `${Array(count).fill('[^.]+').join('[.]')}$`

/**
 * Adds the dimension to the rows of a table with the columns `referrer`, `utm_source` and `utm_medium` (the source needs only
 * the first two). Join it to few rows: to distinct values, not to every hit.
 * @param table a table or a subquery in brackets
 */
export function toOriginSql(
  table: string,
  dimensions: readonly OriginDimension[],
  dialect: OriginJoinDialect,
  bind: ValueBinder,
): string {
  const { names, select } = toOriginSelect(table, dimensions, dialect, bind)
  const tables = names.map((name) => `${name} AS MATERIALIZED (${toKnownSelect(name, dialect, bind)})`)
  return `(WITH ${tables.join(', ')} ${select})`
}

/**
 * Like `toOriginSql`, for many statements of one connection that has the known words as tables.
 * @returns also the names of these tables; `toKnownSelect` fills them
 */
export function toOriginSelect(
  table: string,
  dimensions: readonly OriginDimension[],
  dialect: OriginJoinDialect,
  bind: ValueBinder,
) {
  const names = new Set<KnownName>()
  const joined = new Map<string, string>()
  const findWord: WordFinder = (name, word, field) => {
    names.add(name)
    const join = `${name} ON ${word}`
    const alias = joined.get(join) ?? `known_${joined.size}`
    joined.set(join, alias)
    return `${alias}.${field}`
  }
  const columns = Array.from(
    new Set(dimensions),
    (dimension) => `${toDimensionSql(dimension, 'raw.', findWord, dialect, bind)} AS ${dimension}`,
  )
  const joins = Array.from(joined, ([join, alias]) => {
    const [name, word] = join.split(' ON ') as [string, string]
    return `LEFT JOIN ${name} AS ${alias} ON ${alias}.word = ${word}`
  })
  const select = `SELECT ${['raw.*', ...columns].join(', ')} FROM ${table} AS raw ${joins.join(' ')}`
  return { names: [...names], select }
}

/** The dimension of a hit, as an expression. */
export function toOriginExpression(
  dimension: OriginDimension,
  dialect: OriginLookUpDialect,
  bind: ValueBinder,
): string {
  const bound = new Map<string, string>()
  const bindField = (name: KnownName, field: keyof Word) => {
    const key = `${name}.${field}`
    const list = bound.get(key) ?? bind(KNOWN[name].map((each) => each[field]))
    bound.set(key, list)
    return list
  }
  const findWord: WordFinder = (name, word, field) =>
    dialect.lookUp(word, bindField(name, 'word'), bindField(name, field))
  return toDimensionSql(dimension, '', findWord, dialect, bind)
}

/** @returns an expression for the channel or source of the word; null if the word is unknown */
type WordFinder = (name: KnownName, word: string, field: 'channel' | 'source') => string

function toDimensionSql(
  dimension: OriginDimension,
  /** The prefix of the row's columns. */
  row: string,
  findWord: WordFinder,
  dialect: WordDialect,
  bind: ValueBinder,
): string {
  const [dash, underscore, blank, nothing, www] = ['-', '_', ' ', '', 'www.'].map(bind)
  const replace = (text: string, ...pairs: (readonly [string | undefined, string | undefined])[]) =>
    pairs.reduce((inner, [found, replacement]) => `replace(${inner}, ${found}, ${replacement})`, text)
  const host = `${row}referrer`
  const byHost = [host, dialect.lastLabels(host, 3), dialect.lastLabels(host, 2)].map((word) =>
    findWord('known_hosts', word, dimension),
  )
  const utm = replace(dialect.lower(`${row}utm_source`), [www, nothing])
  const word = replace(utm, [underscore, nothing], [dash, nothing], [blank, nothing])
  const byCampaign = findWord('known_words', word, dimension)
  const byCampaignHost = findWord('known_hosts', utm, dimension)
  if (dimension === 'source') {
    const blanks = bind('  ')
    const text = `trim(BOTH ${blank} FROM ${replace(utm, [blanks, blank], [blanks, blank])})`
    const [named, own] = [byCampaign, text].map((each) => `nullif(${each}, ${nothing})`)
    return `coalesce(${[named, byCampaignHost, own, ...byHost, host].join(', ')})`
  }
  const medium = replace(dialect.lower(`${row}utm_medium`), [underscore, dash], [blank, dash])
  const alternatives = [
    findWord('known_mediums', medium, 'channel'),
    `CASE WHEN ${medium} LIKE ${bind(`${PAID_PREFIX}%`)} THEN ${bind('paid')} END`,
    byCampaign,
    byCampaignHost,
    ...byHost,
    `CASE WHEN coalesce(${host}, ${nothing}) = ${nothing} THEN ${bind('direct')} ELSE ${bind('referral')} END`,
  ]
  return `coalesce(${alternatives.join(', ')})`
}

// An entry of a list is one text with fields of fixed width, because every engine can read a list of texts as a table.
const WORD_WIDTH = Math.max(...Object.values(KNOWN).flatMap((words) => words.map(({ word }) => word.length)))
const CHANNEL_WIDTH = Math.max(...TRAFFIC_CHANNELS.map(({ length }) => length))

/** Selects the known words: `word`, `channel` and `source`. */
export function toKnownSelect(name: KnownName, dialect: OriginJoinDialect, bind: ValueBinder): string {
  const entries = KNOWN[name].map(
    ({ word, channel, source }) => word.padEnd(WORD_WIDTH) + channel.padEnd(CHANNEL_WIDTH) + source,
  )
  return (
    `SELECT rtrim(substr(value, 1, ${WORD_WIDTH})) AS word,` +
    ` rtrim(substr(value, ${WORD_WIDTH + 1}, ${CHANNEL_WIDTH})) AS channel,` +
    ` substr(value, ${WORD_WIDTH + CHANNEL_WIDTH + 1}) AS source FROM ${dialect.listTable(bind(entries))} AS entries`
  )
}
