// Measures how fast files of other tools are read, without storing anything: bytes to records, and records to clicks or
// links: bun bench/read-files.ts [records]. The figures are records for each second of processor time.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSourceFile } from '../server/features/transfer/files/open-source-file.ts'
import { readRecords } from '../server/features/transfer/files/read-records.ts'
import type { ImportSourceName } from '../server/features/transfer/schema.ts'
import type { ReadingOptions } from '../server/features/transfer/sources/source.ts'
import { findSource } from '../server/features/transfer/sources/source-list.ts'

const records = Number(process.argv[2] ?? 500_000)
const OPTIONS: ReadingOptions = { dateOrder: null, timeZone: 'UTC', mapping: {} }
const AGENT =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36'
const VISIT = 'date,userAgent,browser,os,referer,country,region,city,potentialBot,visitedUrl'.split(',')

const listVisit = (id: number) => [
  `2025-11-03T16:${10 + (id % 50)}:06+00:00`,
  AGENT,
  'Chrome',
  'Windows',
  `https://example.com/page/${id}`,
  'Germany',
  'Berlin',
  'Berlin',
  'false',
  `https://s.example/abc${id % 1000}`,
]
const quote = (cell: string) => (cell.includes(',') ? `"${cell}"` : cell)
const always = (cell: string) => `"${cell}"`

interface Example {
  name: string
  source: ImportSourceName
  part: 'links' | 'clicks'
  start: string
  write(id: number): string
  end: string
}

const examples: Example[] = [
  {
    name: 'CSV, visits of Shlink',
    source: 'shlink',
    part: 'clicks',
    start: `${VISIT.join()}\r\n`,
    write: (id) => `${listVisit(id).map(quote).join()}\r\n`,
    end: '',
  },
  {
    name: 'CSV, each cell quoted',
    source: 'shlink',
    part: 'clicks',
    start: `${VISIT.map(always).join()}\r\n`,
    write: (id) => `${listVisit(id).map(always).join()}\r\n`,
    end: '',
  },
  {
    name: 'JSON, visits of Shlink',
    source: 'shlink',
    part: 'clicks',
    start: '{"visits":{"data":[',
    write: (id) => {
      const visit = Object.fromEntries(listVisit(id).map((cell, index) => [VISIT[index], cell]))
      return `${id > 0 ? ',' : ''}${JSON.stringify({ ...visit, potentialBot: false })}`
    },
    end: ']}}',
  },
  {
    name: 'SQL, log of YOURLS',
    source: 'yourls',
    part: 'clicks',
    start:
      'CREATE TABLE `yourls_log` (`click_id` int, `click_time` datetime, `shorturl` varchar(100), `referrer` varchar(200), `user_agent` varchar(255), `ip_address` varchar(41), `country_code` char(2));\nINSERT INTO `yourls_log` VALUES ',
    write: (id) =>
      `${id > 0 ? ',' : ''}(${id},'2025-11-03 16:05:06','abc${id % 1000}','https://example.com/page/${id}','${AGENT}','192.0.2.1','DE')`,
    end: ';\n',
  },
  {
    name: 'CSV, any table of links',
    source: 'csv',
    part: 'links',
    start: 'short_url,destination,title,tags,created\n',
    write: (id) =>
      `https://go.example/a${id},https://example.com/page/${id},"Page, ${id}","a,b",2025-11-03 16:05:06\n`,
    end: '',
  },
]

async function store(path: string, { start, write, end }: Example): Promise<void> {
  const writer = Bun.file(path).writer()
  writer.write(start)
  for (let id = 0; id < records; id++) {
    writer.write(write(id))
    if (id % 1000 === 0) await writer.flush()
  }
  writer.write(end)
  await writer.end()
}

/** @returns records for each second of processor time */
async function measure(path: string, { source: name, part }: Example, isRead: boolean): Promise<number> {
  const source = findSource(name)
  const place = source?.[part]
  if (!source || !place) throw new Error(`${name} has no ${part}`)
  const before = process.cpuUsage()
  let count = 0
  for await (const batch of readRecords(await openSourceFile(path, null), place)) {
    for (const record of batch) {
      if (isRead) {
        const reading = part === 'links' ? source.toLink(record, OPTIONS) : source.toClick?.(record, OPTIONS)
        if (!reading || !('value' in reading)) throw new Error(JSON.stringify(reading))
      }
      count++
    }
  }
  if (count !== records) throw new Error(`${count} records of ${records}`)
  const { user, system } = process.cpuUsage(before)
  return Math.round(count / ((user + system) / 1e6))
}

const directory = await mkdtemp(join(tmpdir(), 'read-files-'))
try {
  process.stdout.write('| file | MB | records | records, each read as a link or click |\n|---|---|---|---|\n')
  for (const [index, example] of examples.entries()) {
    const path = join(directory, String(index))
    await store(path, example)
    const megabytes = Math.round(Bun.file(path).size / 1e6)
    const [bare, read] = [await measure(path, example, false), await measure(path, example, true)]
    const cells = [example.name, megabytes, bare.toLocaleString('en-US'), read.toLocaleString('en-US')]
    process.stdout.write(`| ${cells.join(' | ')} |\n`)
  }
} finally {
  await rm(directory, { recursive: true })
}
