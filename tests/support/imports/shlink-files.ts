// Writes files of any size as Shlink's web client exports them (shlink-web-component, ExportShortUrlsBtn.tsx and
// VisitsParser.ts), and says what an import must make of them.

import { BROWSER_USER_AGENT } from '../world.ts'

export interface ShlinkFiles {
  links: File
  visits: File
  /** How many visits of people each slug has. */
  people: Map<string, number>
  /** How many visits by country of people there are in all. */
  countries: Map<string, number>
  total: number
}

const COUNTRIES = ['Germany', 'France', 'Brazil', 'Japan']
const REFERRERS = ['Direct', 'news.example', 'www.google.com']
const FIRST_VISIT = Date.UTC(2025, 0, 1)
const MINUTE_MS = 60_000
/** Every nth visit is a robot's. */
const ROBOT_EVERY = 10

const toLine = (values: (string | number | boolean)[]) =>
  values.map((value) => (typeof value === 'string' ? `"${value.replaceAll('"', '""')}"` : value)).join(',')

/** @param host of the short URLs @param visits how many each link has */
export function writeShlinkFiles(links: number, visits: number, host = 's.example'): ShlinkFiles {
  const linkLines = [
    '"createdAt","domain","shortCode","shortUrl","longUrl","title","tags","visits"',
    ...Array.from({ length: links }, (_, i) =>
      toLine([
        new Date(FIRST_VISIT - (links - i) * MINUTE_MS).toISOString(),
        host,
        `Link-${i}`,
        `https://${host}/Link-${i}`,
        `https://shop.example/${i}?from=link`,
        `Title ${i}`,
        i % 2 === 0 ? 'even|all' : 'all',
        visits,
      ]),
    ),
  ]
  const people = new Map<string, number>()
  const countries = new Map<string, number>()
  const visitLines = [
    '"date","potentialBot","userAgent","browser","os","referer","country","region","city","latitude","longitude","visitedUrl","type"',
  ]
  for (let visit = 0; visit < visits; visit++) {
    for (let link = 0; link < links; link++) {
      const number = visit * links + link
      const isRobot = number % ROBOT_EVERY === ROBOT_EVERY - 1
      const country = COUNTRIES[number % COUNTRIES.length] as string
      if (!isRobot) {
        people.set(`Link-${link}`, (people.get(`Link-${link}`) ?? 0) + 1)
        countries.set(country, (countries.get(country) ?? 0) + 1)
      }
      visitLines.push(
        toLine([
          new Date(FIRST_VISIT + number * MINUTE_MS).toISOString(),
          isRobot,
          isRobot ? 'Googlebot/2.1 (+http://www.google.com/bot.html)' : BROWSER_USER_AGENT,
          'Safari',
          'iOS',
          REFERRERS[number % REFERRERS.length] as string,
          country,
          'Unknown',
          'Unknown',
          1.5,
          2.5,
          `https://${host}/Link-${link}`,
          '',
        ]),
      )
    }
  }
  return {
    links: new File([linkLines.join('\n')], 'short_urls.csv'),
    visits: new File([visitLines.join('\n')], 'non_orphan_visits.csv'),
    people,
    countries,
    total: links * visits,
  }
}
