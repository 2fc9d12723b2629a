// The news of the installed version: the first section of CHANGELOG.md.

import { Fragment } from 'react'
import CHANGELOG from '../../CHANGELOG.md' with { type: 'text' }
import { Dialog } from '../ui/overlays/dialog.tsx'

export function WhatsNew({ onClose }: { onClose: () => void }) {
  const { version, topics } = parseChangelog(CHANGELOG)
  return (
    <Dialog onClose={onClose} title="What’s new" description={version} wide>
      <div className="grid gap-5" lang="en">
        {topics.map(({ title, items }) => (
          <section key={title}>
            <h3 className="mb-1.5 font-semibold">{title}</h3>
            <ul className="grid list-disc gap-1.5 pl-5">
              {items.map((item) => (
                <li key={item} className="wrap-anywhere">
                  <Text text={item} />
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Dialog>
  )
}

/** Text with `code` in backticks. */
const Text = ({ text }: { text: string }) =>
  text.split('`').map((part, i) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts never change
    i % 2 === 0 ? <Fragment key={i}>{part}</Fragment> : <code key={i}>{part}</code>,
  )

/** The newest version of a changelog (https://keepachangelog.com). References to pages of the repository are left out. */
function parseChangelog(changelog: string) {
  const newest = changelog.split(/^## /m)[1] ?? ''
  const name = /^\[(.+?)\](?: - (.+))?/.exec(newest)
  return {
    version: newest.startsWith('[Unreleased]')
      ? 'Since the last release'
      : name?.slice(1).filter(Boolean).join(', '),
    topics: newest
      .split(/^### /m)
      .slice(1)
      .map((topic) => ({
        title: topic.split('\n', 1)[0] ?? '',
        items: topic
          .split(/^- /m)
          .slice(1)
          .map((item) =>
            item
              .trim()
              .replace(/\s+/g, ' ')
              .replace(/ \(\[[^[\]]{1,99}\]\([^\s()]{1,99}\)\)/g, '')
              .replace(/\[([^[\]]{1,99})\]\([^\s()]{1,99}\)/g, '$1'),
          ),
      })),
  }
}
