// Makes a labelled corpus of form submissions: what people write to a bicycle shop, and what its form gets beside that. The
// two kinds share words on purpose. It is made up, so its figures flatter: real spam is more varied.

import { createRandom, pick, type Random } from '../server/lib/seeded-random.ts'

export interface LabelledSubmission {
  isSpam: boolean
  fields: Map<string, string>
  pageSeconds: number | null
}

const NAMES = 'Ada,Grace,Alan,Edsger,Barbara,Donald,Radia,Ken,Frances,Niklaus,Margaret,Tony'.split(',')
const HOSTS = 'gmail.com,outlook.com,web.de,orange.fr,yahoo.com,example.com,uni.example'.split(',')
const SPAM_HOSTS = 'gmail.com,outlook.com,mail.ru,yahoo.com,growth.example,leads.example,promo.example'.split(
  ',',
)

const GOOD = {
  opening: [
    'Hello,',
    'Hi there,',
    'Good morning,',
    'Dear team,',
    '',
    '',
    'Hi, I found you on Google.',
    'Hello from Leeds,',
    'I was in your shop last week.',
    'My neighbour told me about you.',
    'We met at the market on Sunday.',
  ],
  body: [
    'do you have the {bike} in size {size}?',
    'how much is a {service} for my {bike}?',
    'my {bike} makes a noise when I brake, can you look at it?',
    'is the {bike} on your website still for sale? I saw the offer at https://shop.example/bikes/{n}.',
    'I would like to book a {service} for {day}.',
    'could I pay the {bike} in rates, without a loan?',
    'we are a company of {n} people and want to lease bikes. What would you offer?',
    'the chain that I bought on {day} does not fit, may I return it?',
    'is your shop open on {day}?',
    'I ordered a {part} {n} days ago and it has not arrived. The order number is {n}{n}.',
    'do you ship a {part} to Austria?',
    'can you check whether my insurance pays the {service}?',
    'your website does not work on my phone, the page of the {bike} stays empty.',
    'I am looking for a cheap used {bike} for my son, about 100 pounds.',
    'I write for the local paper, may I call you on {day} about your business?',
    'please send me a quote for the {service}, best price please!',
    'would you sponsor our race on {day}? It is free traffic for your shop, so to say.',
  ],
  end: [
    'Thanks!',
    'Kind regards',
    'Best, {name}',
    'Thank you very much in advance.',
    '',
    '',
    'Please call me, {n}{n}{n}.',
    'Cheers',
    'Looking forward to your answer!',
  ],
  bike: 'road bike,gravel bike,e-bike,city bike,folding bike,cargo bike,mountain bike,kids bike'.split(','),
  service: 'service,wheel truing,brake change,fitting,inspection,repair'.split(','),
  part: 'saddle,chain,pair of tyres,lamp,pump,helmet,lock'.split(','),
  size: 'S,M,L,52,54,58'.split(','),
  day: 'Monday,Tuesday,Saturday,tomorrow,Friday afternoon,the weekend'.split(','),
}

const SPAM = {
  opening: [
    'Hello,',
    'Hi there,',
    'Dear sir or madam,',
    'Good day,',
    '',
    'Hi {name},',
    'Dear website owner,',
    'ATTENTION!',
    'Hello, I found your website on Google.',
  ],
  body: [
    'we can bring your website to the first page of Google with {seo} and {seo}.',
    'your site has problems with {seo}. I offer a free audit, may I send you a quote?',
    'buy {n}000 real {social} for only {money}, delivery guaranteed!',
    'earn {money}00 a day with {coin}, no experience: {link}',
    'do you need a business loan? Up to {money}00,000 within 24 hours, bad credit welcome. {link}',
    'best online casino, {n} free spins and a bonus of {n}%: {link} {link}',
    'I represent an investor who wants to place {money} million in your country. Reply to my private mail.',
    'cheap {pill} without a prescription {link}',
    'get unlimited leads for your business with our software, {n} companies trust us. {link}',
    'we make professional videos and logos at the best price, see {link}',
    'is your phone still reachable? I have a business offer about {seo}, please call back.',
    'Посмотрите наше предложение: {link} лучшие цены, звоните',
    'hot singles in your town are waiting for you {link}',
    '<a href="{link}">{pill} best price</a> [url={link}]{pill}[/url]',
    'I saw that you sell bikes. Our factory makes every {part} at half the price, ask for the catalogue.',
    'your domain expires soon, renew it here: {link}',
    'guest post on a site with high traffic, {n} dollars for a dofollow link. Interested?',
  ],
  end: [
    'Best regards',
    'Unsubscribe: {link}',
    'Reply now!!!',
    'Kind regards, {name}',
    'Thanks',
    '',
    'WhatsApp +{n}{n}{n}{n}',
    'Act now, offer ends {day}!',
  ],
  seo: 'backlinks,SEO,keyword ranking,link building,domain authority,organic traffic'.split(','),
  social: 'followers,likes,views,subscribers'.split(','),
  coin: 'bitcoin,crypto trading,forex,an AI bot'.split(','),
  pill: 'viagra,cialis,replica watches,cbd oil'.split(','),
  part: GOOD.part,
  day: GOOD.day,
}

const LINK_HOSTS =
  'bit.example,promo-deals.example,win.example,t.example,rank-up.example,get-leads.example'.split(',')

function fill(random: Random, text: string, words: Record<string, readonly string[]>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (name === 'n') return String(1 + Math.floor(random() * 99))
    if (name === 'money') return `$${1 + Math.floor(random() * 99)}`
    if (name === 'name') return pick(NAMES, random)
    if (name === 'link')
      return `https://${pick(LINK_HOSTS, random)}/${Math.floor(random() * 1e6).toString(36)}`
    return pick(words[name] ?? [''], random)
  })
}

function createSubmission(random: Random, isSpam: boolean): LabelledSubmission {
  const words = isSpam ? SPAM : GOOD
  const name = pick(NAMES, random)
  const bodies = Array.from({ length: 1 + Math.floor(random() * 2) }, () => pick(words.body, random))
  const message = [pick(words.opening, random), ...bodies, pick(words.end, random)]
    .map((text) => fill(random, text, words as unknown as Record<string, readonly string[]>))
    .join(' ')
    .trim()
  const email = `${name.toLowerCase()}${Math.floor(random() * 1000)}@${pick(isSpam ? SPAM_HOSTS : HOSTS, random)}`
  // Half of the robots load the page, and one person in ten blocks the snippet.
  const seesPage = random() < (isSpam ? 0.5 : 0.9)
  const pageSeconds = seesPage ? Math.floor((isSpam ? 1 : 12) + random() ** 3 * (isSpam ? 60 : 600)) : null
  return {
    isSpam,
    fields: new Map([
      ['name', name],
      ['email', email],
      ['message', message],
    ]),
    pageSeconds,
  }
}

/** As many of each kind, in turn. The same seed gives the same corpus. */
export function createSpamCorpus(seed: number, each: number): LabelledSubmission[] {
  const random = createRandom(seed)
  return Array.from({ length: each * 2 }, (_, i) => createSubmission(random, i % 2 === 1))
}
