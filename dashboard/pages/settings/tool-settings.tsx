// Ways to use the workspace from elsewhere: the bookmarklet, the browser extension, and AI assistants.

import { Link2 } from 'lucide-react'
import { Card } from '../../ui/card.tsx'
import { CopyableText } from '../../ui/copy/copyable-text.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { SettingsHeading } from './settings-heading.tsx'

/** Opens the form of a new link to the page that it is pressed on, in a new tab. */
const toBookmarklet = (origin: string) =>
  `javascript:void open('${origin}/app/new?url='+encodeURIComponent(location.href))`

export function ToolSettings() {
  const { origin } = location
  const bookmarklet = toBookmarklet(origin)
  return (
    <>
      <SettingsHeading
        title="Tools"
        description="Create links from any page, and let AI assistants work with your links."
      />
      <Card title="Bookmarklet">
        <p className="mb-4 text-soft">
          Drag the button to your bookmarks bar. Press it on any page to create a link to that page.
        </p>
        <a
          href="/app/new"
          // React replaces `javascript:` addresses. The page's policy prevents this one from running here.
          ref={(anchor) => anchor?.setAttribute('href', bookmarklet)}
          onClick={(event) => {
            event.preventDefault()
            toast('Drag it to your bookmarks bar')
          }}
          className="mb-4 inline-flex cursor-grab items-center gap-2 rounded-lg border border-line bg-card px-3 py-1.5 font-medium hover:bg-sunken"
        >
          <Link2 size={16} aria-hidden="true" />
          Shorten with Towpath
        </a>
        <p className="mb-2 text-soft">Or create a bookmark with this address:</p>
        <CopyableText text={bookmarklet} label="Copy bookmarklet" />
      </Card>
      <Card title="Browser extension">
        <p className="mb-4 text-soft">
          The extension for Chrome, Edge and Firefox shortens the open tab, copies the short link and shows
          its QR code. The operator of this server has it. It asks for this address and an API key with the
          scopes links:read and links:write:
        </p>
        <CopyableText text={origin} label="Copy server address" />
      </Card>
      <Card title="AI assistants">
        <p className="mb-4 text-soft">
          Assistants that speak MCP connect to this address with an API key. The scopes of the key decide what
          they may do:
        </p>
        <CopyableText text={`${origin}/mcp`} label="Copy MCP address" />
      </Card>
    </>
  )
}
