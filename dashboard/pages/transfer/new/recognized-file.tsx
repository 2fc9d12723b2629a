// The recognized file: the tool, the format, and the columns with sample values.

import type { FileInspection, LinkSourceName } from '../../../api/transfer/imports.ts'
import { Card } from '../../../ui/card.tsx'
import { formatCount } from '../../../ui/format.ts'
import { toVisibleText } from '../../../ui/visible-text.ts'
import { SOURCES } from '../source-names.ts'

const FORMATS = { csv: 'CSV', json: 'JSON', sql: 'SQL dump', zip: 'Zip file' }
const ENCODINGS = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16',
  'utf-16be': 'UTF-16',
  'windows-1252': 'Windows-1252',
}

export function RecognizedFile({
  inspection,
  source,
}: {
  inspection: FileInspection
  source: LinkSourceName
}) {
  const { format, encoding, rows, columns } = inspection
  return (
    <Card title="Type of file">
      <dl className="grid grid-cols-2 gap-x-6 gap-y-3 sm:grid-cols-4">
        <Fact name="Tool">{SOURCES[inspection.source].title}</Fact>
        <Fact name="Format">{FORMATS[format]}</Fact>
        {format !== 'zip' && <Fact name="Encoding">{ENCODINGS[encoding]}</Fact>}
        {format !== 'zip' && <Fact name="Size">{formatCount(rows, 'row')}</Fact>}
      </dl>
      {source !== inspection.source && (
        <p role="note" className="mt-4 rounded-lg bg-warn-tint px-3 py-2 text-sm">
          {inspection.source === 'csv'
            ? `No column of this file matches an export from ${SOURCES[source].title}. It may have been changed after the export. To map the columns yourself, choose “A CSV file” above.`
            : `This looks like a file from ${SOURCES[inspection.source].title}, not of ${SOURCES[source].title}.`}
        </p>
      )}
      {columns.length > 0 && <Columns columns={columns} />}
    </Card>
  )
}

const Fact = ({ name, children }: { name: string; children: string }) => (
  <div className="min-w-0">
    <dt className="text-sm text-soft">{name}</dt>
    <dd className="break-words">{children}</dd>
  </div>
)

const Columns = ({ columns }: Pick<FileInspection, 'columns'>) => (
  <details className="mt-4 border-t border-line pt-3">
    <summary className="w-fit rounded text-sm font-medium">
      {formatCount(columns.length, 'column')} with examples
    </summary>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it */}
    <div tabIndex={0} className="mt-2 max-h-80 overflow-auto rounded-lg border border-line -outline-offset-2">
      <table className="w-full text-left text-sm">
        <thead className="sr-only">
          <tr>
            <th>Column</th>
            <th>Examples</th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {columns.map(({ name, samples }) => (
            <tr key={name}>
              <th scope="row" className="w-1/3 min-w-28 px-3 py-1.5 align-top font-medium wrap-anywhere">
                {toCellText(name)}
              </th>
              <td className="px-3 py-1.5 align-top wrap-anywhere text-soft">
                {samples.map((sample) => toCellText(sample)).join(' · ') || 'Empty'}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  </details>
)

const CELL_MAX = 80

/** Strangers write these texts, so spaces are shown as they are. */
export function toCellText(text: string): string {
  const characters = [...text]
  const cut = characters.length > CELL_MAX ? `${characters.slice(0, CELL_MAX).join('')}…` : text
  return cut.split(' ').map(toVisibleText).join(' ')
}
