// docs/asvs.md lists each requirement of OWASP ASVS 5.0.0 at levels 1 and 2 once, and names only files that are there.

import { describe, expect, test } from 'bun:test'
import { ROOT, readCheckout } from '../support/architecture/read-checkout.ts'
import { findMissingPaths } from '../support/architecture/read-map.ts'

/** How many requirements each section has (https://github.com/OWASP/ASVS/tree/v5.0.0/5.0/en). */
const SECTIONS = `
  1.1:2 1.2:9 1.3:11 1.4:3 1.5:2 2.1:3 2.2:3 2.3:4 2.4:1 3.2:2 3.3:4 3.4:6 3.5:5 3.7:2
  4.1:3 4.2:1 4.3:2 4.4:4 5.1:1 5.2:3 5.3:2 5.4:3 6.1:3 6.2:12 6.3:4 6.4:4 6.5:5 6.6:3 6.8:4
  7.1:3 7.2:4 7.3:2 7.4:5 7.5:2 7.6:2 8.1:2 8.2:3 8.3:1 8.4:1 9.1:3 9.2:4
  10.1:2 10.2:2 10.3:4 10.4:11 10.5:5 10.6:2 10.7:3 11.1:2 11.2:3 11.3:3 11.4:4 11.5:1 11.6:1
  12.1:3 12.2:2 12.3:4 13.1:1 13.2:5 13.3:2 13.4:5 14.1:2 14.2:4 14.3:3 15.1:3 15.2:3 15.3:7
  16.1:1 16.2:5 16.3:4 16.4:3 16.5:3 17.1:1 17.2:4 17.3:2
`

const REQUIREMENTS = SECTIONS.trim()
  .split(/\s+/)
  .map((section) => section.split(':'))
  .flatMap(([section, count]) =>
    Array.from({ length: Number(count) }, (_, i) => `v5.0.0-${section}.${i + 1}`),
  )

interface Row {
  id: string
  about: string
  status: string
  how: string
}

const PAGE = 'docs/asvs.md'
const files = await readCheckout(ROOT)
const paths = files.map(({ path }) => path)
const text = files.find(({ path }) => path === PAGE)?.text ?? ''

const rows: Row[] = [...text.matchAll(/^\| (v5\.0\.0-\S+) \|(.*)\|$/gm)].map(([, id = '', cells = '']) => {
  const [about = '', status = '', how = ''] = cells.split(' | ').map((cell) => cell.trim())
  return { id, about, status, how }
})

const STATUSES = ['met', 'partly', 'no', 'operator', 'n/a']

const countBy = (status: string) => rows.filter((row) => row.status === status).length

describe(PAGE, () => {
  test('lists every requirement of ASVS 5.0.0 at levels 1 and 2 once, in the order of the standard', () => {
    expect(REQUIREMENTS).toHaveLength(253)
    expect(rows.map(({ id }) => id)).toEqual(REQUIREMENTS)
  })

  test('says of each requirement what it is about, whether it is met, and how', () => {
    const incomplete = rows.filter(
      ({ about, status, how }) => about.length < 3 || !STATUSES.includes(status) || how.length < 3,
    )
    expect(incomplete).toEqual([])
  })

  test('says of each requirement that is not met what is missing', () => {
    const bare = rows.filter(({ status, how }) => /^(no|partly|operator)$/.test(status) && how.length < 20)
    expect(bare).toEqual([])
  })

  test('counts its rows', () => {
    const numbers = [...STATUSES.map(countBy), rows.length]
    expect(text).toContain(`| ${[...STATUSES, 'all'].join(' | ')} |`)
    expect(text).toContain(`| ${numbers.join(' | ')} |`)
  })

  test('names only files, tests and pages that are there', () => {
    expect(findMissingPaths({ path: PAGE, text }, paths)).toEqual([])
    const page = files.find(({ path }) => path === 'docs/security.md')
    expect(page && findMissingPaths(page, paths)).toEqual([])
  })

  test('links only to headings that are there', () => {
    const links = [...text.matchAll(/\]\(([\w/.-]+\.md)#([\w-]+)\)/g)].map(([, path, anchor]) => ({
      path,
      anchor,
    }))
    expect(links.length).toBeGreaterThan(10)
    const toAnchor = (heading: string) =>
      heading
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-')
    const broken = links.filter(({ path, anchor }) => {
      const page = files.find((file) => file.path === `docs/${path}`)?.text ?? ''
      return ![...page.matchAll(/^#+ (.+)$/gm)].some(([, heading = '']) => toAnchor(heading) === anchor)
    })
    expect(broken).toEqual([])
  })
})
