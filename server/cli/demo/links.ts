// The links of the demo company, most clicked first, each with the channel of its clicks.

import type { CreateLinkInput } from '../../features/links/schema.ts'
import { CHANNEL_TAGS, type FormName, type MarketingChannel, SITE } from './company.ts'

export interface DemoLink {
  slug: string
  url: string
  title: string
  tags: string[]
  channel: MarketingChannel
  campaign: string
  /** `utm_content`, where a campaign has several links. */
  content?: string
  term?: string
  /** How many days ago the link was sent or posted: most clicks come then. Without it, clicks come every day. */
  sent?: number
  /** How many days ago the link expired. */
  ended?: number
  /** The form that visitors of this link send. */
  form?: FormName
  /** How many times likelier than others they are to send the form. */
  keen?: number
  /** The variants of a split test, each with its own likelihood. */
  variants?: DemoVariant[]
  /** How many days from now the split test ends. Without it, it runs until somebody ends it. */
  splitDays?: number
  comments?: string
  more?: Pick<
    CreateLinkInput,
    'geoTargeting' | 'deviceTargeting' | 'rules' | 'previewTitle' | 'previewDescription'
  >
}

interface DemoVariant {
  url: string
  weight: number
  label: string
  /** As `keen` of the link, for visitors who get this variant. */
  keen: number
}

/** Channel, slug, destination (a path is on the company's own site), title, campaign, and the other fields by name. */
const TABLE = `
instagram | bio | / | Link in bio | always-on | form=newsletter
newsletter | spring-blend | /coffee/spring-blend | Issue 48: the spring blend is here | spring-blend | form=newsletter, sent=9, tag=Spring blend
search ad | fresh-beans | /coffee | Search ad: fresh coffee beans | search-beans | form=newsletter, term=fresh coffee beans
poster | bag | /brew-guides | QR code on every bag | packaging | form=newsletter
newsletter | issue-49 | /journal/washed-or-natural | Issue 49: washed or natural? | issue-49 | form=newsletter, sent=2
social ad | try-spring | /coffee/spring-blend | Social ad: a free tasting bag | spring-blend | form=newsletter, ended=4, content=tasting-bag, tag=Spring blend
newsletter | issue-47 | /journal/water-matters | Issue 47: why water matters | issue-47 | form=newsletter, sent=16
poster | table | /menu | QR code on the café tables | cafe-tables | form=newsletter
instagram | reel-spring | /coffee/spring-blend | Reel: roasting the spring blend | spring-blend | form=newsletter, sent=8, content=reel, tag=Spring blend
tiktok | latte-art | /workshops/latte-art | Video: your first rosetta | workshops | form=workshop, keen=2, sent=12, content=rosetta
newsletter | issue-46 | /journal/decaf-that-tastes | Issue 46: decaf that tastes | issue-46 | form=newsletter, sent=23
newsletter | learn | /workshops | Workshop dates by mail | workshops | form=workshop, keen=4, sent=6, content=dates, tag=Workshops
search ad | gift | /gifts | Search ad: coffee gifts | search-gifts | form=contact, term=coffee gift box
youtube | v60 | /brew-guides/v60 | Video: the four-minute V60 | brew-guides | form=newsletter, content=v60
poster | market | /coffee/spring-blend | Poster at the Saturday market | market-stall | form=newsletter, keen=2
facebook | open-day | /events/open-day | Roastery open day | open-day | form=workshop, keen=2, sent=14
partner | cafe-oriel | /coffee?partner=oriel | Café Oriel: our beans on their shelf | cafe-oriel | form=wholesale, keen=3
podcast | pod | /coffee/first-bag | Podcast: first bag for half the price | podcast-half-price | form=newsletter, keen=2, content=slow-mornings
linkedin | office | /wholesale/offices | Coffee for offices | office-coffee | form=wholesale, keen=7, tag=Wholesale
social ad | barista-day | /workshops/barista-day | Social ad: barista for a day | workshops | form=workshop, keen=4, content=barista-day, tag=Workshops
poster | tram | /coffee/first-bag | Tram stop posters | tram-stops | form=newsletter, ended=5
newsletter | welcome | /welcome | Welcome mail, first step | welcome | form=contact
search ad | supplier | /wholesale | Search ad: wholesale supplier | search-wholesale | form=wholesale, keen=8, term=wholesale coffee supplier, tag=Wholesale
instagram | story-harvest | /journal/harvest | Story: harvest in Huila | harvest | form=newsletter, sent=5
support | track | /orders/track | Track an order | orders | form=contact, keen=2
partner | bike-club | /coffee?partner=bike-club | Bike club members | bike-club | form=newsletter
facebook | review | https://reviews.example.org/larkfield | Write a review | reviews |
poster | window | /workshops | QR code in the shop window | shop-window | form=workshop, keen=3, tag=Workshops
youtube | aeropress | /brew-guides/aeropress | Video: AeroPress, upside down | brew-guides | form=newsletter, content=aeropress
newsletter | refill | /coffee/subscribe | Reminder: your refill is due | refill | form=contact
tiktok | grind | /brew-guides/grind | Video: grind size in one minute | brew-guides | form=newsletter, sent=20, content=grind
support | app | https://app.example.com/get | Our app | app |
linkedin | case-study | /wholesale/case-study | How Hotel Brandt changed its breakfast | case-study | form=wholesale, keen=8, sent=11, tag=Wholesale
partner | kettle-co | /gifts/kettle-set | Kettle & Co: the set | kettle-co | form=contact
podcast | morning | /coffee/first-bag | Podcast: Morning Pages | podcast-half-price | form=newsletter, keen=2, content=morning-pages
poster | receipt | https://reviews.example.org/larkfield?from=receipt | QR code on the receipt | receipt |
social ad | come-back | /coffee | Social ad: come back | retargeting | form=contact, content=basket
support | care | /help/grinder-care | Grinder care | help | form=contact, keen=3
facebook | cupping | /workshops/cupping | Friday cupping | workshops | form=workshop, keen=4, sent=18, content=cupping, tag=Workshops
partner | food-fair | /wholesale/food-fair | Food fair: meet us at stand 12 | food-fair | form=wholesale, keen=9, sent=21, ended=15, tag=Wholesale
newsletter | price-list | /wholesale/prices | Price list for partners | price-list | form=wholesale, keen=8, tag=Wholesale
support | jobs | /jobs | Work with us | jobs | form=contact, keen=2
instagram | merch | https://shop.example.org/larkfield | Cups and totes | merch |
poster | grinder | /help/grinder-care | QR code on rented grinders | grinders | form=contact, keen=2
partner | bakery | /coffee?partner=bakery | Hart’s bakery: coffee with your loaf | harts-bakery | form=newsletter
support | where | https://maps.example.org/larkfield | Find us | map |
linkedin | hiring | /jobs/roaster | We look for a roaster | jobs | form=contact, keen=3, sent=7
podcast | slow | /journal/slow-mornings | Podcast: slow mornings, the playlist | podcast-playlist |
support | press | https://press.example.org/larkfield | Press kit | press |
newsletter | survey | https://forms.example.org/coffee-survey | Reader survey | survey | sent=25
`

const COMMENTS: Record<string, string> = {
  bag: 'Printed on 12,000 bags: never change the slug.',
  tram: 'Two weeks, 14 stops.',
  press: 'Photos and logos. Ask Mara before sending it on.',
}

const MORE: Record<string, DemoLink['more']> = {
  app: {
    deviceTargeting: {
      ios: 'https://apps.example.com/ios/larkfield',
      android: 'https://apps.example.com/android/larkfield',
    },
  },
  'spring-blend': {
    previewTitle: 'The spring blend is here',
    previewDescription:
      'Washed coffee from Huila. Orange, brown sugar and a clean finish, for filter and espresso.',
  },
  'open-day': {
    previewTitle: 'Roastery open day: come and taste',
    previewDescription: 'Watch the roaster at work, taste six coffees and take a bag home. Free, no sign-up.',
  },
  'case-study': { previewTitle: 'How Hotel Brandt serves 300 good coffees before nine' },
  track: {
    rules: [
      { when: { language: ['de'] }, to: `${SITE}/de/orders/track` },
      { when: { os: ['ios', 'android'], query: { app: '*' } }, to: 'https://app.example.com/orders' },
    ],
  },
  where: { geoTargeting: { DE: 'https://maps.example.org/de/larkfield' } },
}

/** One test with a winner, and one that is too early to tell. */
const SPLITS: Record<string, Pick<DemoLink, 'variants' | 'splitDays'>> = {
  learn: {
    variants: [
      { label: 'Dates', url: `${SITE}/workshops`, weight: 50, keen: 1.2 },
      { label: 'Photos', url: `${SITE}/workshops/photos`, weight: 50, keen: 18 },
    ],
  },
  office: {
    variants: [
      { label: 'Prices first', url: `${SITE}/wholesale/offices`, weight: 60, keen: 6 },
      { label: 'Sample box', url: `${SITE}/wholesale/sample-box`, weight: 40, keen: 8 },
    ],
    splitDays: 21,
  },
}

export const DEMO_LINKS: readonly DemoLink[] = TABLE.trim().split('\n').map(readLine)

function readLine(line: string): DemoLink {
  const [channel = '', slug = '', url = '', title = '', campaign = '', rest = ''] = line.split(/ ?\| ?/)
  const { form, content, term, tag, ...numbers } = Object.fromEntries(
    rest.split(', ').map((part) => part.split('=') as [string, string]),
  )
  const number = (name: string) => (numbers[name] === undefined ? undefined : Number(numbers[name]))
  return {
    slug,
    url: url.startsWith('/') ? SITE + url : url,
    title,
    tags: [CHANNEL_TAGS[channel as MarketingChannel], tag].filter((name) => name !== undefined),
    channel: channel as MarketingChannel,
    campaign,
    content,
    term,
    sent: number('sent'),
    ended: number('ended'),
    keen: number('keen'),
    form: form as FormName | undefined,
    comments: COMMENTS[slug],
    more: MORE[slug],
    ...SPLITS[slug],
  }
}

/** A visitor keeps a variant for a day, and has one id for a day. */
export function findVariant({ variants }: DemoLink, visitor: string): DemoVariant | undefined {
  let point = Number(visitor.slice(-4)) % 100
  return variants?.find(({ weight }) => {
    point -= weight
    return point < 0
  })
}

/** Pages of the company have the snippet, which reports the visit. Other pages do not. */
export const isOwnPage = ({ url }: Pick<DemoLink, 'url'>) => url.startsWith(SITE)
