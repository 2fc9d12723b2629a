import { expect, test } from 'bun:test'
import { onBothEngines } from '../../../tests/support/world.ts'
import { foldCase } from '../../lib/text.ts'
import { foldSearchTexts } from './fold-search-texts.ts'
import type { LinkResource } from './schema.ts'

onBothEngines.quick('links that an earlier release has stored', (server) => {
  test('are found with their marks at once, and without them after the job', async () => {
    const ws = await server().createWorkspace()
    const { db } = server().app
    const titles = ['Zürich', 'Genève', 'Bern', 'Łódź', 'Ceský Krumlov']
    const ids: number[] = []
    for (const title of titles) {
      const { id } = await ws.createLink({ title })
      ids.push(id)
      const search_text = foldCase(`slug\nhttps://example.com/\n\n${title}`)
      await server().update('links', { id }, { search_text })
    }
    const through = Math.max(...ids)
    await server().insert('open_names', { table_name: 'links', through })
    const find = async (search: string) => {
      const { json } = await ws.api(`/links?search=${encodeURIComponent(search)}`)
      return json.data.map(({ title }: LinkResource) => title)
    }
    for (const title of titles) expect(await find(title)).toEqual([title])
    expect(await find('zurich')).toEqual([])

    await foldSearchTexts(db, 2)
    const plain = ['zurich', 'geneve', 'bern', 'LODZ', 'český krumlov']
    for (const [n, text] of plain.entries()) expect([text, await find(text)]).toEqual([text, [titles[n]]])
    const open = db.read.selectFrom('open_names').selectAll().where('table_name', '=', 'links')
    expect(await open.execute()).toEqual([])
  })
})
