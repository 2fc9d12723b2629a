// The frames of shell/loading-frame.tsx as HTML. A language bundles this file with its texts, and with React: there must be one React.

import { createElement, type FunctionComponent } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { CenteredFrame, WorkspaceFrame } from './shell/loading-frame.tsx'

const render = (frame: FunctionComponent) => renderToStaticMarkup(createElement(frame))

export const renderFrames = () => ({
  workspaceFrame: render(WorkspaceFrame),
  centeredFrame: render(CenteredFrame),
})
