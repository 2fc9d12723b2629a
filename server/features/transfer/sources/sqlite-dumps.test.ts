// Dumps of SQLite as its shell, DB Browser, Adminer, phpLiteAdmin, SQLiteStudio and DBeaver write them.

import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readExampleFile } from './read-example.fixture.ts'

const dir = mkdtempSync(join(tmpdir(), 'towpath-dumps-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

async function read(text: string | Uint8Array): Promise<(string | number | null)[][]> {
  const path = join(dir, 'dump.sql')
  writeFileSync(path, text)
  const { recognized, links } = await readExampleFile('yourls', path)
  expect(recognized).toStartWith('yourls ')
  return links.map((row) => {
    if (row === null || Array.isArray(row)) throw new Error(`no link: ${JSON.stringify(row)}`)
    return [row.slug, row.title, row.clicks]
  })
}

const TYPES = `varchar(200) NOT NULL, "url" text NOT NULL, "title" text, "timestamp" timestamp NOT NULL, "ip" varchar(41) NOT NULL, "clicks" int(10)`
const CREATE = `CREATE TABLE "yourls_url" ("keyword" ${TYPES}, PRIMARY KEY ("keyword"));`
const REST = `'2024-12-01 20:36:18','192.0.2.1'`
const toRow = (slug: string, title: string, clicks = '1') =>
  `('${slug}','https://acme.test/',${title},${REST},${clicks})`
const COLUMNS = '("keyword","url","title","timestamp","ip","clicks")'

test.each<[string, string, (string | number | null)[][]]>([
  [
    'the shell',
    `PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE IF NOT EXISTS "yourls_url" (keyword ${TYPES});\nINSERT INTO "yourls_url" VALUES${toRow('a', "unistr('one\\u000atwo\\\\three')")};\nINSERT INTO yourls_url VALUES${toRow('b', "replace(replace('one\\r\\ntwo','\\r',char(13)),'\\n',char(10))")};\nINSERT INTO yourls_url VALUES${toRow('c', 'NULL', '9.0')};\nCOMMIT;\n`,
    [
      ['a', 'one\ntwo\\three', 1],
      ['b', 'one\r\ntwo', 1],
      ['c', null, 9],
    ],
  ],
  [
    'the shell with row ids, blobs and virtual tables',
    `PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nPRAGMA writable_schema=ON;\nINSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES('table','x','x',0,'CREATE VIRTUAL TABLE x USING fts5(a)');\n${CREATE}\nINSERT INTO yourls_url(rowid,keyword,url,title,timestamp,ip,clicks) VALUES(7,'a','https://acme.test/',X'c389743061',${REST},1);\nPRAGMA writable_schema=OFF;\nCOMMIT;\n`,
    [['a', 'Ét0a', 1]],
  ],
  [
    'a shell of other days, which joins texts',
    `BEGIN TRANSACTION;\n${CREATE}\nINSERT INTO "yourls_url" VALUES${toRow('a', "'one' || char(10) ||'two'||char(13,10)||'three'")};\nCOMMIT;\n`,
    [['a', 'one\ntwo\r\nthree', 1]],
  ],
  [
    'DB Browser',
    `BEGIN TRANSACTION;\r\nDROP TABLE IF EXISTS "yourls_url";\r\nCREATE TABLE IF NOT EXISTS "yourls_url" (\r\n\t"keyword"\tvarchar(200) NOT NULL,\r\n\t"url"\ttext NOT NULL,\r\n\t"title"\ttext, -- shown; on (the) page\r\n\t"timestamp"\ttimestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,\r\n\t"ip"\tvarchar(41) NOT NULL,\r\n\t"clicks"\tint(10) NOT NULL CHECK("clicks" >= 0),\r\n\tPRIMARY KEY("keyword")\r\n);\r\nINSERT INTO "yourls_url" VALUES ${toRow('a', "'C:\\'")},\r\n ${toRow('b', "'it''s'")};\r\nCREATE INDEX IF NOT EXISTS "by_ip" ON "yourls_url" (\r\n\t"ip"\r\n);\r\nCOMMIT;\r\n`,
    [
      ['a', 'C:\\', 1],
      ['b', "it's", 1],
    ],
  ],
  [
    'Adminer',
    `-- Adminer 4.8.1 SQLite 3 3.40.1 dump\n\nDROP TABLE IF EXISTS "yourls_url";\n${CREATE}\n\nCREATE INDEX "x" ON "yourls_url" ("ip");\n\nINSERT INTO "yourls_url" ${COLUMNS} VALUES\n${toRow('a', "'C:\\'")},\n${toRow('b', "'two\nlines'")};\n\n-- 2024-12-11 10:00:00\n`,
    [
      ['a', 'C:\\', 1],
      ['b', 'two\nlines', 1],
    ],
  ],
  [
    'phpLiteAdmin',
    `----\n-- phpLiteAdmin database dump (https://www.phpliteadmin.org/)\n-- Exported: 10:00am on December 11, 2024 (UTC)\n----\nBEGIN TRANSACTION;\n\n----\n-- Drop table for yourls_url\n----\nDROP TABLE IF EXISTS "yourls_url";\n\n----\n-- Table structure for yourls_url\n----\n${CREATE}\n\n----\n-- Data dump for yourls_url, a total of 1 rows\n----\nINSERT INTO "yourls_url" ${COLUMNS} VALUES ${toRow('a', "'C:\\'")};\nCOMMIT;\n`,
    [['a', 'C:\\', 1]],
  ],
  [
    'SQLiteStudio',
    `--\n-- File generated with SQLiteStudio v3.4.4 on Wed Dec 11 10:00:00 2024\n--\n-- Text encoding used: UTF-8\n--\nPRAGMA foreign_keys = off;\nBEGIN TRANSACTION;\n\n-- Table: yourls_url\nCREATE TABLE IF NOT EXISTS yourls_url (keyword ${TYPES});\nINSERT INTO yourls_url (keyword, url, title, timestamp, ip, clicks) VALUES ${toRow('a', "'C:\\'")};\n\nCOMMIT TRANSACTION;\nPRAGMA foreign_keys = on;\n`,
    [['a', 'C:\\', 1]],
  ],
  [
    'DBeaver',
    `CREATE TABLE yourls_url (keyword ${TYPES});\n\nINSERT INTO main.yourls_url (keyword,url,title,"timestamp",ip,clicks) VALUES\n\t ${toRow('a', "'C:\\'")},\n\t ${toRow('b', "'b'")};\n`,
    [
      ['a', 'C:\\', 1],
      ['b', 'b', 1],
    ],
  ],
  [
    'names in brackets, and rows that replace others',
    `PRAGMA user_version=3;\nCREATE TABLE [main].[yourls_url] ([keyword] varchar(200), [url] text, [title] text, [timestamp] timestamp, [ip] varchar(41), [clicks] int);\nINSERT OR REPLACE INTO [yourls_url] VALUES${toRow('a', "'a'")};\nINSERT OR IGNORE INTO "main"."yourls_url" ([keyword],[url],[title],[timestamp],[ip],[clicks]) VALUES${toRow('b', "'b'")};\n`,
    [
      ['a', 'a', 1],
      ['b', 'b', 1],
    ],
  ],
  [
    'comments without a blank',
    `--dump of yourls\nBEGIN;\n--table yourls_url;\n${CREATE}\n--rows\nINSERT INTO yourls_url VALUES${toRow('a', "'a'")}; --one\nEND;\n`,
    [['a', 'a', 1]],
  ],
])('a dump of %s brings its links', async (_, text, links) => {
  expect(await read(text)).toEqual(links)
  // As `sqlite3 … > dump.sql` writes in PowerShell.
  expect(await read(Buffer.from(`\ufeff${text}`, 'utf16le'))).toEqual(links)
})

test.each([
  ['a database', Buffer.from('SQLite format 3\0\x10\0')],
  ['a packed database', Bun.gzipSync(Buffer.from('SQLite format 3\0\x10\0'))],
])('%s says how it becomes a dump', async (_, bytes) => {
  expect(read(bytes)).rejects.toThrow('This is a SQLite database. Write it as SQL: sqlite3 <file> .dump')
})
