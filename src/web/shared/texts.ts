// All words of the pages, in three languages. {name} is filled in. The type of `es` is that of the others: a text that is
// missing, or that no page knows, does not compile.

const es = {
  kitchen: 'Cocina',
  tickets: 'Comandas', allDay: 'Todo el día', pass: 'Pase', recall: 'Recuperar', soldOut: 'Agotado', sellOut: 'Agotar', settings: 'Ajustes',
  help: 'Ayuda',
  inStep: 'Al día', connecting: 'Conectando…', open: '{n} abiertas', openOne: '1 abierta', below: '↓ {n} más abajo', later: '{n} para más tarde',
  noAnswer: 'El servidor no responde hace {s}\u00a0s', noAnswerMore: 'Lo que ve puede ser viejo. Siga cocinando: sus marcas esperan aquí y se envían solas.',
  tryAddress: 'Si el servidor tiene otra dirección: escanee de nuevo el código de «comanda pair --as kitchen».',
  unwatched: 'Nadie mira {name} desde las {time}', muted: '{name} no suena desde las {time}', otherAlert: '{kind}: {name}, desde las {time}',
  since: 'desde {when}', atTime: 'las {time}', tomorrow: 'mañana', yesterday: 'ayer', internet: 'Internet', internetOk: 'funciona', internetDown: 'sin conexión', internetUnknown: 'no se sabe: el servidor no lo ha usado últimamente', internetWorks: 'Internet funciona', goesOn: 'La cocina sigue; la nube y las apps esperan.',
  cloudNone: 'el restaurante no usa ninguna', cloudInStep: 'al día', cloudBehind: 'poniéndose al día', cloudPaused: 'envío en pausa', cloudUnreachable: 'no responde', cloudFailing: 'responde con errores', cloudCertificate: 'su certificado no es de confianza, avise al técnico', cloudClock: 'el reloj del servidor está mal, avise al técnico', cloudKey: 'no acepta la clave del servidor, avise al técnico', cloudHeld: 'no se envía nada, porque los datos vienen de otra máquina: avise al técnico', cloudStopped: 'no se envía nada, avise al técnico',
  stepsWaiting: 'por enviar: {n}', displays: 'pantallas: {n}', displaysUnwatched: 'estaciones que nadie mira: {n}', displaysMuted: 'pantallas sin sonido: {n}',
  waitingMarks: '{n} marcas por enviar', waitingMark: '1 marca por enviar',
  touchToHear: 'Toque aquí para oír los avisos',
  nothing: 'Nada por preparar', nothingMore: 'Las comandas nuevas aparecen aquí solas.',
  warn: 'apure', late: 'tarde', minutes: '{n} min', rush: 'URGENTE', cancelled: 'ANULADA', cancelledLine: 'anulado',
  noReason: 'sin motivo', touchSeen: 'Toque para quitarla', forTime: 'para las {time}', noStation: 'sin estación',
  alsoAt: 'También en', doneOf: '{n}/{of}', doneCollapsed: 'Listos: {n}', addedAt: 'Agregado {time}', times: '{n}× {what}', timesPerItem: '{n}× {what} por plato',
  markAll: 'Marcar todo lo de la orden {number}', start: 'Empezar la orden {number}', 
  
  undo: 'Deshacer', marked: 'Listo: {what}', markedAll: 'Orden {number} lista', outDone: 'Orden {number} entregada', soldOutDone: 'Agotado: {what}',
  dropped: 'El servidor no aceptó la marca de la orden {number}: {why}',
  allDone: 'Todo listo', seen: 'Visto', out: 'Sale', rushOn: 'Urgente', rushOff: 'Ya no urge', ready: 'LISTA', bringBack: 'Devolver a la cocina',
  doneBy: '{time}, {name}', recallNone: 'Nada se marcó en las últimas 12 horas.', recallHelp: 'Las últimas 50, la más nueva primero.',
  allDayNone: 'No hay platos por preparar.', allDayHelp: 'Toque un plato para ver sus comandas.', without: 'sin cambios', showing: 'Mostrando: {what}', showAll: 'Ver todas',
  search: 'Buscar un plato o modificador', untilTomorrow: 'Agotar hasta mañana', untilISay: 'Agotar hasta que avise', available: 'Volver a vender', soldOutNow: 'Agotado ahora',
  soldOutUntil: 'agotado hasta {when}', modifier: 'modificador de {dishes}', noHit: 'Nada se llama así: «{what}».', soldOutTag: 'agotado', soldOutOpen: 'agotado hasta que avise', soldOutNone: 'No hay nada agotado.', appsNote: 'Las apps de reparto no se enteran: agótelo allí también.', menuMore: 'Escriba para buscar entre {n} platos y modificadores.',
  noStationCalled: 'La dirección de esta página nombra una estación que no existe: {what}.', stationsAre: 'Estas hay: {names}.', stationsNone: 'No hay ninguna.',
  station: 'Estaciones de esta pantalla', allStations: 'Todas', language: 'Idioma', size: 'Tamaño', small: 'Normal', medium: 'Grande', large: 'Muy grande',
  look: 'Aspecto', light: 'Claro', dark: 'Oscuro', auto: 'Automático', volume: 'Volumen', noSound: 'Sin sonido', low: 'Bajo', high: 'Alto', 
  thisScreen: 'Esta pantalla', forget: 'Olvidar esta pantalla', forgetSure: 'Toque otra vez para olvidarla', forgetKey: 'La pantalla borra lo que guardó y pide permiso de nuevo; su clave sigue activa en el servidor. Para retirarla, en el servidor:', passAll: 'Todas las estaciones',
  storageBroken: 'Este navegador no guarda nada: las marcas por enviar se pierden si cierra la página.',
  workerRefused: 'Sin el servidor, esta página no se puede volver a abrir, porque el certificado no está instalado.', setupLink: 'Cómo instalarlo',
  noWakeLock: 'Este navegador no puede mantener la pantalla encendida. En la tableta: Ajustes → Pantalla → Tiempo de espera → Nunca (o «Permanecer activo» en las opciones de desarrollador).',
  understood: 'Entendido', boxState: 'El servidor', version: 'Versión {version}', cloud: 'Nube', connectedAs: 'Pantalla {name}',
  keysHelp: 'Teclado o botonera: 1 a 9 y 0 marcan la comanda de ese lugar, las flechas eligen, espacio marca, U deshace. R abre y cierra Recuperar, donde las mismas teclas devuelven a la cocina.',
  touchHelp: 'Toque un plato para marcarlo; la cabecera para marcar toda la comanda; el número para empezarla. Mantenga apretado un plato para agotarlo.',
  notLetIn: 'Esta pantalla todavía no tiene permiso', number: 'Número de esta pantalla', numberLater: 'Pidiendo un número…',
  wayPerson: 'Dé este número a quien tenga el panel o el servidor del restaurante.', wayBox: 'En el servidor se escribe:', wayCode: 'O escanee con esta tableta el código que muestra allí:', waits: 'Espera el permiso. No hace falta tocar nada.',
  codeBad: 'Ese código ya no sirve: cada uno vale una vez y diez minutos.', tooMany: 'Ya hay dos pantallas esperando en esta dirección. Reintento en {when}.',
  keyRevoked: 'El permiso de esta pantalla fue retirado.', keyExpired: 'El permiso de esta pantalla venció.', keyWrong: 'El permiso de esta pantalla es de otra dirección (prueba o restaurante).',
  markLost: '1 marca no llegó a enviarse: vea el pedido en otra pantalla.', marksLost: '{n} marcas no llegaron a enviarse: vea los pedidos en otra pantalla.',
  keyUnknown: 'El servidor no conoce el permiso de esta pantalla.', keyForbidden: 'Esta pantalla no puede entrar: {why}', tryAgain: 'Reintentar',
  ONSITE: 'En el local', TABLE: 'Mesa', DELIVERY: 'Delivery', TAKEAWAY: 'Para llevar', orderWord: 'Orden', 
};

export type Texts = { [Name in keyof typeof es]: string };

const en: Texts = {
  kitchen: 'Kitchen',
  tickets: 'Tickets', allDay: 'All day', pass: 'Pass', recall: 'Recall', soldOut: 'Sold out', sellOut: 'Mark sold out', settings: 'Settings',
  help: 'Help',
  inStep: 'In step', connecting: 'Connecting…', open: '{n} open', openOne: '1 open', below: '↓ {n} more below', later: '{n} for later',
  noAnswer: 'No answer from the box for {s}\u00a0s', noAnswerMore: 'What you see may be old. Keep cooking: your marks wait here and are sent by themselves.',
  tryAddress: 'If the box has a new address: scan the code of “comanda pair --as kitchen” again.',
  unwatched: 'Nobody watches {name} since {time}', muted: '{name} is mute since {time}', otherAlert: '{kind}: {name}, since {time}',
  since: 'since {when}', atTime: '{time}', tomorrow: 'tomorrow', yesterday: 'yesterday', internet: 'Internet', internetOk: 'works', internetDown: 'no connection', internetUnknown: 'not known: the box has not used it lately', internetWorks: 'The internet works', goesOn: 'The kitchen goes on; the cloud and the apps wait.',
  cloudNone: 'the restaurant uses none', cloudInStep: 'in step', cloudBehind: 'catching up', cloudPaused: 'sending is paused', cloudUnreachable: 'does not answer', cloudFailing: 'answers with errors', cloudCertificate: 'its certificate is not trusted, tell the technician', cloudClock: 'the clock of the box is wrong, tell the technician', cloudKey: 'does not accept the key of the box, tell the technician', cloudHeld: 'nothing is sent, because the data are of another machine: tell the technician', cloudStopped: 'nothing is sent, tell the technician',
  stepsWaiting: 'to send: {n}', displays: 'screens: {n}', displaysUnwatched: 'stations that nobody watches: {n}', displaysMuted: 'screens without sound: {n}',
  waitingMarks: '{n} marks to send', waitingMark: '1 mark to send',
  touchToHear: 'Touch here to hear new orders',
  nothing: 'Nothing to make', nothingMore: 'New tickets appear here by themselves.',
  warn: 'hurry', late: 'late', minutes: '{n} min', rush: 'RUSH', cancelled: 'CANCELLED', cancelledLine: 'cancelled',
  noReason: 'no reason given', touchSeen: 'Touch to remove it', forTime: 'for {time}', noStation: 'no station',
  alsoAt: 'Also at', doneOf: '{n}/{of}', doneCollapsed: 'Done: {n}', addedAt: 'Added {time}', times: '{n}× {what}', timesPerItem: '{n}× {what} per item',
  markAll: 'Mark all of order {number}', start: 'Start order {number}', 
  
  undo: 'Undo', marked: 'Done: {what}', markedAll: 'Order {number} done', outDone: 'Order {number} is out', soldOutDone: 'Sold out: {what}',
  dropped: 'The box did not take the mark of order {number}: {why}',
  allDone: 'All done', seen: 'Seen', out: 'Out', rushOn: 'Rush', rushOff: 'No rush', ready: 'READY', bringBack: 'Back to the kitchen',
  doneBy: '{time}, {name}', recallNone: 'Nothing was marked in the last 12 hours.', recallHelp: 'The last 50, newest first.',
  allDayNone: 'No dishes to make.', allDayHelp: 'Touch a dish to see its tickets.', without: 'no changes', showing: 'Showing: {what}', showAll: 'Show all',
  search: 'Search a dish or modifier', untilTomorrow: 'Mark sold out until tomorrow', untilISay: 'Mark sold out until I say so', available: 'Sell again', soldOutNow: 'Sold out now',
  soldOutUntil: 'sold out until {when}', modifier: 'modifier of {dishes}', noHit: 'Nothing is called “{what}”.', soldOutTag: 'sold out', soldOutOpen: 'sold out until somebody says so', soldOutNone: 'Nothing is sold out.', appsNote: 'Delivery apps are not told: hide it there too.', menuMore: 'Type to search {n} dishes and modifiers.',
  noStationCalled: 'The address of this page names a station that does not exist: {what}.', stationsAre: 'There are: {names}.', stationsNone: 'There is none.',
  station: 'Stations of this screen', allStations: 'All', language: 'Language', size: 'Size', small: 'Normal', medium: 'Large', large: 'Very large',
  look: 'Look', light: 'Light', dark: 'Dark', auto: 'Automatic', volume: 'Volume', noSound: 'No sound', low: 'Low', high: 'High', 
  thisScreen: 'This screen', forget: 'Forget this screen', forgetSure: 'Touch again to forget it', forgetKey: 'The screen deletes what it kept and asks to be let in again; its key stays active on the box. To revoke it, on the box:', passAll: 'All stations',
  storageBroken: 'This browser keeps nothing: marks that wait are lost when you close the page.',
  workerRefused: 'Without the box this page cannot be opened again, because the certificate is not installed.', setupLink: 'How to install it',
  noWakeLock: 'This browser cannot keep the screen on. On the tablet: Settings → Display → Screen timeout → Never (or “Stay awake” in the developer options).',
  understood: 'Understood', boxState: 'The box', version: 'Version {version}', cloud: 'Cloud', connectedAs: 'Screen {name}',
  keysHelp: 'Keyboard or bump bar: 1 to 9 and 0 mark the ticket of that place, arrows select, space marks, U undoes. R opens and closes Recall, where the same keys bring back to the kitchen.',
  touchHelp: 'Touch a dish to mark it, the head to mark the whole ticket, the number to start it. Hold a dish to say that it is sold out.',
  notLetIn: 'This screen is not let in yet', number: 'Number of this screen', numberLater: 'Asking for a number…',
  wayPerson: 'Give this number to whoever is at the panel or at the box.', wayBox: 'On the box they type:', wayCode: 'Or scan, with this tablet, the code that this shows there:', waits: 'It waits to be let in. There is nothing to touch.',
  codeBad: 'That code is no longer good: each works once, for ten minutes.', tooMany: 'Two screens already wait at this address. Trying again in {when}.',
  keyRevoked: 'The key of this screen was revoked.', keyExpired: 'The key of this screen has expired.', keyWrong: 'The key of this screen is of another address (sandbox or restaurant).',
  markLost: '1 mark was not sent: look at the order on another screen.', marksLost: '{n} marks were not sent: look at the orders on another screen.',
  keyUnknown: 'The box does not know the key of this screen.', keyForbidden: 'This screen may not enter: {why}', tryAgain: 'Try again',
  ONSITE: 'On site', TABLE: 'Table', DELIVERY: 'Delivery', TAKEAWAY: 'Takeaway', orderWord: 'Order', 
};

const pt: Texts = {
  kitchen: 'Cozinha',
  tickets: 'Comandas', allDay: 'Dia todo', pass: 'Passe', recall: 'Recuperar', soldOut: 'Esgotado', sellOut: 'Esgotar', settings: 'Ajustes',
  help: 'Ajuda',
  inStep: 'Em dia', connecting: 'Conectando…', open: '{n} abertas', openOne: '1 aberta', below: '↓ {n} mais abaixo', later: '{n} para mais tarde',
  noAnswer: 'O servidor não responde há {s}\u00a0s', noAnswerMore: 'O que você vê pode ser antigo. Continue: suas marcas esperam aqui e são enviadas sozinhas.',
  tryAddress: 'Se o servidor tem outro endereço: leia de novo o código de “comanda pair --as kitchen”.',
  unwatched: 'Ninguém olha {name} desde {time}', muted: '{name} está sem som desde {time}', otherAlert: '{kind}: {name}, desde {time}',
  since: 'desde {when}', atTime: 'as {time}', tomorrow: 'amanhã', yesterday: 'ontem', internet: 'Internet', internetOk: 'funciona', internetDown: 'sem conexão', internetUnknown: 'não se sabe: o servidor não a usou ultimamente', internetWorks: 'A internet funciona', goesOn: 'A cozinha continua; a nuvem e os apps esperam.',
  cloudNone: 'o restaurante não usa nenhuma', cloudInStep: 'em dia', cloudBehind: 'pondo-se em dia', cloudPaused: 'envio em pausa', cloudUnreachable: 'não responde', cloudFailing: 'responde com erros', cloudCertificate: 'o certificado dela não é de confiança, avise o técnico', cloudClock: 'o relógio do servidor está errado, avise o técnico', cloudKey: 'não aceita a chave do servidor, avise o técnico', cloudHeld: 'nada é enviado, porque os dados vêm de outra máquina: avise o técnico', cloudStopped: 'nada é enviado, avise o técnico',
  stepsWaiting: 'a enviar: {n}', displays: 'telas: {n}', displaysUnwatched: 'estações que ninguém olha: {n}', displaysMuted: 'telas sem som: {n}',
  waitingMarks: '{n} marcas a enviar', waitingMark: '1 marca a enviar',
  touchToHear: 'Toque aqui para ouvir os avisos',
  nothing: 'Nada a preparar', nothingMore: 'As comandas novas aparecem aqui sozinhas.',
  warn: 'apresse', late: 'atrasada', minutes: '{n} min', rush: 'URGENTE', cancelled: 'CANCELADA', cancelledLine: 'cancelado',
  noReason: 'sem motivo', touchSeen: 'Toque para tirar', forTime: 'para as {time}', noStation: 'sem estação',
  alsoAt: 'Também em', doneOf: '{n}/{of}', doneCollapsed: 'Prontos: {n}', addedAt: 'Adicionado {time}', times: '{n}× {what}', timesPerItem: '{n}× {what} por prato',
  markAll: 'Marcar tudo do pedido {number}', start: 'Começar o pedido {number}', 
  
  undo: 'Desfazer', marked: 'Pronto: {what}', markedAll: 'Pedido {number} pronto', outDone: 'Pedido {number} saiu', soldOutDone: 'Esgotado: {what}',
  dropped: 'O servidor não aceitou a marca do pedido {number}: {why}',
  allDone: 'Tudo pronto', seen: 'Visto', out: 'Sai', rushOn: 'Urgente', rushOff: 'Sem urgência', ready: 'PRONTO', bringBack: 'Devolver à cozinha',
  doneBy: '{time}, {name}', recallNone: 'Nada foi marcado nas últimas 12 horas.', recallHelp: 'As últimas 50, a mais nova primeiro.',
  allDayNone: 'Não há pratos a preparar.', allDayHelp: 'Toque um prato para ver as comandas.', without: 'sem mudanças', showing: 'Mostrando: {what}', showAll: 'Ver todas',
  search: 'Buscar um prato ou modificador', untilTomorrow: 'Esgotar até amanhã', untilISay: 'Esgotar até eu avisar', available: 'Voltar a vender', soldOutNow: 'Esgotado agora',
  soldOutUntil: 'esgotado até {when}', modifier: 'modificador de {dishes}', noHit: 'Nada se chama assim: “{what}”.', soldOutTag: 'esgotado', soldOutOpen: 'esgotado até alguém avisar', soldOutNone: 'Nada está esgotado.', appsNote: 'Os apps de entrega não ficam sabendo: esconda lá também.', menuMore: 'Digite para buscar entre {n} pratos e modificadores.',
  noStationCalled: 'O endereço desta página nomeia uma estação que não existe: {what}.', stationsAre: 'Existem: {names}.', stationsNone: 'Não há nenhuma.',
  station: 'Estações desta tela', allStations: 'Todas', language: 'Idioma', size: 'Tamanho', small: 'Normal', medium: 'Grande', large: 'Muito grande',
  look: 'Aparência', light: 'Claro', dark: 'Escuro', auto: 'Automático', volume: 'Volume', noSound: 'Sem som', low: 'Baixo', high: 'Alto', 
  thisScreen: 'Esta tela', forget: 'Esquecer esta tela', forgetSure: 'Toque de novo para esquecer', forgetKey: 'A tela apaga o que guardou e pede permissão de novo; a chave dela continua ativa no servidor. Para retirá-la, no servidor:', passAll: 'Todas as estações',
  storageBroken: 'Este navegador não guarda nada: marcas a enviar se perdem ao fechar a página.',
  workerRefused: 'Sem o servidor esta página não abre de novo, porque o certificado não está instalado.', setupLink: 'Como instalar',
  noWakeLock: 'Este navegador não consegue manter a tela ligada. No tablet: Configurações → Tela → Tempo limite → Nunca (ou “Permanecer ativo” nas opções do desenvolvedor).',
  understood: 'Entendi', boxState: 'O servidor', version: 'Versão {version}', cloud: 'Nuvem', connectedAs: 'Tela {name}',
  keysHelp: 'Teclado ou botoeira: 1 a 9 e 0 marcam a comanda desse lugar, as setas escolhem, espaço marca, U desfaz. R abre e fecha Recuperar, onde as mesmas teclas devolvem à cozinha.',
  touchHelp: 'Toque um prato para marcá-lo; o cabeçalho para marcar toda a comanda; o número para começá-la. Segure um prato para esgotá-lo.',
  notLetIn: 'Esta tela ainda não tem permissão', number: 'Número desta tela', numberLater: 'Pedindo um número…',
  wayPerson: 'Dê este número a quem estiver no painel ou no servidor do restaurante.', wayBox: 'No servidor se digita:', wayCode: 'Ou leia, com este tablet, o código que isto mostra lá:', waits: 'Espera a permissão. Não é preciso tocar em nada.',
  codeBad: 'Esse código não vale mais: cada um vale uma vez, por dez minutos.', tooMany: 'Já há duas telas esperando neste endereço. Nova tentativa em {when}.',
  keyRevoked: 'A permissão desta tela foi retirada.', keyExpired: 'A permissão desta tela venceu.', keyWrong: 'A permissão desta tela é de outro endereço (teste ou restaurante).',
  markLost: '1 marca não chegou a ser enviada: veja o pedido em outra tela.', marksLost: '{n} marcas não chegaram a ser enviadas: veja os pedidos em outra tela.',
  keyUnknown: 'O servidor não conhece a permissão desta tela.', keyForbidden: 'Esta tela não pode entrar: {why}', tryAgain: 'Tentar de novo',
  ONSITE: 'No local', TABLE: 'Mesa', DELIVERY: 'Delivery', TAKEAWAY: 'Para viagem', orderWord: 'Pedido', 
};

export type Language = 'es' | 'en' | 'pt';
export const LANGUAGES: { [name in Language]: string } = { es: 'Español', en: 'English', pt: 'Português' };
const TABLE: { [name in Language]: Texts } = { es, en, pt };

export function textsOf(language: Language): Texts { return TABLE[language]; }

// The first of these that is one of ours.
export function languageOf(...wanted: (string | null | undefined)[]): Language {
  for (const each of wanted) {
    const short = (each || '').slice(0, 2).toLowerCase();
    if (short === 'es' || short === 'en' || short === 'pt') return short;
  }
  return 'es';
}

export function fill(text: string, values: { [name: string]: string | number }): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => name in values ? String(values[name]) : whole);
}

// By which names are compared: case and accents do not matter.
export function plain(text: string): string { return text.normalize('NFD').replace(/[\u0300-\u036f]/g, '').trim().toLowerCase(); }

export function quantityText(quantity: number, language: Language): string {
  return new Intl.NumberFormat(language, { maximumFractionDigits: 3 }).format(quantity);
}
