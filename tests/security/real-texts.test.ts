// Bounds against hostile texts refuse nothing that people write: texts of many scripts are stored as they are, and found in
// any composition and case.

import { expect, test } from 'bun:test'
import { BEHIND_PROXY, nextSenderAddress } from '../support/form-requests.ts'
import { onBothEngines } from '../support/world.ts'

/** Thirty marks on a letter: more than any language, and as many as a joke needs. */
const THIRTY_MARKS = Array.from({ length: 30 }, (_, n) => String.fromCodePoint(0x300 + n)).join('')

/** A text, and a word of it to look for. */
const TEXTS: [script: string, text: string, word: string][] = [
  ['Vietnamese', 'Xin chào, tôi muốn đặt một chỗ ngồi. Cảm ơn nhiều!', 'muốn'],
  ['Devanagari', 'नमस्ते, क्या आप मुझे कीमत बता सकते हैं? धन्यवाद, क्षितिज', 'क्षितिज'],
  ['Arabic with marks', 'السَّلَامُ عَلَيْكُمْ، أُرِيدُ مَعْلُومَاتٍ أَكْثَرَ', 'مَعْلُومَاتٍ'],
  ['Hebrew with points', 'שָׁלוֹם, אֲנִי רוֹצֶה לְהַזְמִין שֻׁלְחָן', 'לְהַזְמִין'],
  ['Thai', 'สวัสดีค่ะ ขอทราบราคาห้องพักค่ะ น้ำ', 'ห้องพัก'],
  ['Tibetan', 'བཀྲ་ཤིས་བདེ་ལེགས། རིན་གོང་ག་ཚོད་རེད།', 'བདེ་ལེགས'],
  ['Myanmar', 'မင်္ဂလာပါ၊ ဈေးနှုန်း သိချင်ပါတယ်။', 'ဈေးနှုန်း'],
  ['Tamil', 'வணக்கம், விலை என்ன? நன்றி ஸ்ரீ', 'ஸ்ரீ'],
  ['Korean', '안녕하세요, 가격을 알려 주세요.', '가격을'],
  ['Japanese', 'こんにちは、ｶﾞｲﾄﾞ付きツアーを予約したいです。', 'ツアー'],
  ['Greek with tones', 'Καλημέρα, θα ήθελα πληροφορίες για τους ΧΏΡΟΥΣ.', 'χώρους'],
  ['Cyrillic', 'Здравствуйте! Ёлка, йод и Київ.', 'ёлка'],
  ['Latin with many marks', 'Ǟfter Ṩpring: ḗ, ǭ, ṹ, Ạ̊ngstrom', 'ạ̊ngstrom'],
  ['emoji', 'Great 👩‍❤️‍👨 👨‍👩‍👧‍👦 1️⃣ 🏴󠁧󠁢󠁳󠁣󠁴󠁿 👍🏽 trip', '👍🏽'],
  ['flags', 'We come from 🇩🇪🇫🇷🇧🇷 together', '🇫🇷'],
  ['thirty marks on a letter', `He c${THIRTY_MARKS}omes, he said`, `c${THIRTY_MARKS}omes`],
]

onBothEngines(
  'a text as people write it',
  (server) => {
    test.each(TEXTS)('%s is stored as it is, and found', async (_, text, word) => {
      const workspace = await server().createWorkspace()
      const form = await workspace.api('/forms', {
        method: 'POST',
        body: { name: 'Contact', spam: { words: ['casino'], learn: true } },
      })
      const sent = await server().call(`/f/${form.json.data.formKey}`, {
        method: 'POST',
        body: { message: text },
        headers: { 'X-Forwarded-For': nextSenderAddress() },
      })
      expect(sent.json).toEqual({ ok: true })
      await workspace.api('/links', {
        method: 'POST',
        body: { destinationUrl: 'https://example.com/', title: text },
      })
      for (const written of [word, word.normalize('NFD'), word.normalize('NFC'), word.toUpperCase()]) {
        const search = encodeURIComponent(written)
        const submissions = await workspace.api(`/submissions?search=${search}`)
        expect(submissions.json.data.map(({ fields }: { fields: object }) => fields)).toEqual([
          { message: text },
        ])
        const links = await workspace.api(`/links?search=${search}`)
        expect(links.json.data.map(({ title }: { title: string }) => title)).toEqual([text])
      }
    })
  },
  BEHIND_PROXY,
)
