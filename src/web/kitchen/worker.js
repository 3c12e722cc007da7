// The service worker of the kitchen display: after a reload the page opens also while the box does not answer. It keeps the
// page and what that loads, nothing else; the page itself says how old its tickets are.
'use strict';
const KEPT = 'kitchen {{version}}';
const FILES = ['/kitchen', '/kitchen/{{style}}', '/kitchen/{{script}}'];

self.addEventListener('install', (event) => {
  event.waitUntil(caches.open(KEPT).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting()));
});

self.addEventListener('activate', (event) => {
  event.waitUntil(caches.keys()
    .then((names) => Promise.all(names.filter((name) => name.startsWith('kitchen ') && name !== KEPT).map((name) => caches.delete(name))))
    .then(() => self.clients.claim()));
});

// The box first, so that an upgrade is seen; what is kept when it does not answer within 4 s.
function page(request) {
  const kept = () => caches.match('/kitchen').then((found) => found || Response.error());
  return new Promise((resolve) => {
    const late = setTimeout(() => resolve(kept()), 4000);
    fetch(request).then((answer) => {
      clearTimeout(late);
      resolve(answer.ok ? answer : kept());
    }, () => {
      clearTimeout(late);
      resolve(kept());
    });
  });
}

self.addEventListener('fetch', (event) => {
  const path = new URL(event.request.url).pathname;
  if (event.request.mode === 'navigate' && path === '/kitchen') {
    event.respondWith(page(event.request));
  } else if (FILES.includes(path)) {
    event.respondWith(caches.match(path).then((found) => found || fetch(event.request)));
  }
});
