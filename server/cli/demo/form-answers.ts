// The texts that people write into the demo's forms. Their email domains are
// reserved for examples (RFC 2606), and so are their phone numbers (Ofcom: 020 7946 0xxx).

import { pick, type Random } from '../../lib/seeded-random.ts'
import { normalizeUnicode } from '../../lib/text.ts'
import type { FormName } from './company.ts'

const FIRST =
  'Anna Ben Clara David Elif Felix Greta Hannes Ines Jakub Kaja Lena Milan Nora Oskar Paula Quirin Rosa Samir Tilda Uwe Vera Wim Yasmin Zoe Amara Bruno Chiara Dilan Emil Freya Gustav Hedda Ivo Jonna Karim Lotte Mateo Nele Oona Piet Ravi Sofia Theo Ursula Valentin Wanda Yuki Aoife Bastian Carmen Dario Eszter Frida Giorgio Hugo Imke Joost Klara Linus'.split(
    ' ',
  )
const LAST =
  'Adler Bakker Costa Dahl Eriksen Fischer García Hoffmann Ivanova Jansen Kowalski Lindqvist Marino Novák Okafor Petrov Quinn Rossi Schneider Tanaka Ullmann Visser Weber Yılmaz Zimmermann Almeida Brandt Carvalho Dubois Engel Ferrari Grünwald Hansen Ilves Jensen Keller Laurent Meier Nowak Olsen Peeters Romero Santos Thorne Urban Vogel Walsh Ahmed Beck Conti Devlin Esposito Fuchs Gallagher Horvat Iversen Krüger Lang Moreau Nilsson'.split(
    ' ',
  )
const DOMAINS = ['example.com', 'example.org', 'example.net']

export interface DemoPerson {
  first: string
  name: string
  email: string
}

/** Every person has a different address. */
export function createPerson(taken: Set<string>, random: Random): DemoPerson {
  const [first, last] = [pick(FIRST, random), pick(LAST, random)]
  const plain = (text: string) =>
    normalizeUnicode(text, 'NFD').replace(/\p{M}/gu, '').replace('ı', 'i').toLowerCase()
  const base = random() < 0.7 ? `${plain(first)}.${plain(last)}` : `${plain(first).slice(0, 1)}${plain(last)}`
  const domain = pick(DOMAINS, random)
  let email = `${base}@${domain}`
  for (let n = 2; taken.has(email); n++) email = `${base}${n}@${domain}`
  taken.add(email)
  return { first, name: `${first} ${last}`, email }
}

const BREWS = ['Filter', 'Espresso machine', 'French press', 'AeroPress', 'Moka pot', 'Not sure yet']
const WORKSHOPS = ['Latte art, evening', 'Barista for a day', 'Home espresso', 'Friday cupping']
const SEATS = ['1', '1', '2', '2', '2', '3', '4']
const WISHES = [
  '',
  '',
  '',
  'Oat milk, please.',
  'It is a birthday present.',
  'One of us is left-handed.',
  'Can we come half an hour later?',
]
const BUSINESSES = ['Hotel', 'Café', 'Bakery', 'Bistro', 'Bookshop', 'Studio', 'Kantine', 'Deli']
const KILOS = ['5', '8', '10', '12', '20', '25', '40', '60']
const WHOLESALE = [
  'We open in September and look for a house blend. Could we taste two or three?',
  'Our supplier stops at the end of the month. How soon could you deliver?',
  'Do you rent grinders too? We have one machine, two groups.',
  'We serve about 120 cups a day and would like something sweet and low in acid.',
  'Please send your price list. We are mostly interested in the spring blend.',
  'Could somebody come by and train our team of six?',
]
const TOPICS = ['Order', 'Subscription', 'Grinder', 'Press', 'Job', 'Something else']
const MESSAGES = [
  'My parcel says delivered, and I have not seen it. Could you look?',
  'Can I pause the subscription for August? We are away.',
  'The last bag was wonderful. Will you have the Huila again?',
  'Which grind do I choose for a Chemex?',
  'The grinder makes a noise since yesterday. Is that a case for the guarantee?',
  'I would like forty small bags with our logo for a wedding. Is that possible?',
  'Do you still look for somebody for the roastery? I have worked with a Probat for three years.',
  'I write about coffee for a local paper and would love to visit on a roasting day.',
  'Could you send me the invoice once more? I have deleted the mail.',
  'I paid twice, I think. Thank you for checking!',
]

/** @returns the fields in the order of the form */
export function createFields(
  form: FormName,
  { first, name, email }: DemoPerson,
  random: Random,
): [string, string][] {
  switch (form) {
    case 'newsletter':
      return [
        ['first_name', first],
        ['email', email],
        ['brews_with', pick(BREWS, random)],
      ]
    case 'workshop':
      return [
        ['name', name],
        ['email', email],
        ['workshop', pick(WORKSHOPS, random)],
        ['seats', pick(SEATS, random)],
        ['wishes', pick(WISHES, random)],
      ]
    case 'wholesale':
      return [
        ['company', `${pick(BUSINESSES, random)} ${pick(LAST, random)}`],
        ['name', name],
        ['email', email],
        ['phone', `+44 20 7946 0${String(Math.floor(random() * 1000)).padStart(3, '0')}`],
        ['kilos_per_week', pick(KILOS, random)],
        ['message', pick(WHOLESALE, random)],
      ]
    case 'contact':
      return [
        ['name', name],
        ['email', email],
        ['topic', pick(TOPICS, random)],
        ['message', pick(MESSAGES, random)],
      ]
  }
}

const NOTES: Record<FormName, string[]> = {
  newsletter: ['Asked in the shop whether the mail came: it did.', 'Met at the market, knows Mara.'],
  workshop: ['Paid by voucher.', 'Moved to the next date, confirmed by phone.', 'Waiting list: two seats.'],
  wholesale: [
    'Called on Tuesday, wants samples of two blends.',
    'Samples sent. Call again next week.',
    'Has a contract until the end of the year. Remind in November.',
    'Won: starts with 12 kg a week.',
    'Too small for delivery; offered pick-up.',
  ],
  contact: [
    'Answered.',
    'Parcel found at the neighbor’s.',
    'Forwarded to Jonas.',
    'Refunded on the same day.',
  ],
}
export const pickNote = (form: FormName, random: Random) => pick(NOTES[form], random)

const OFFERS = [
  'We guarantee the first page of every search engine within 30 days. Reply for our price list.',
  'Your website has 14 critical mistakes. I attach nothing, just say yes and I repair them.',
  'Buy 10,000 real followers today. Delivery in one hour, best quality.',
  'Dear Sir or Madam, we are a leading supplier of paper cups and offer you our best price.',
  'Earn from home with coins that double every week. No risk!',
]
export const createSpamFields = (random: Random, n: number): [string, string][] => [
  ['name', pick(['SEO Team', 'Marketing Office', 'James', 'Best Price'], random)],
  ['email', `offer${n}@mail.example.net`],
  ['topic', 'Something else'],
  ['message', pick(OFFERS, random)],
]
