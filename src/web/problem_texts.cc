#include "web/problem_texts.h"

#include <array>
#include <cstddef>

#include "wire/problem.h"

namespace comanda::web {
namespace {

struct Translated {
  Problem problem;
  std::string_view spanish;
  std::string_view portuguese;
};

constexpr std::array kTranslated = {
    Translated{Problem::kInvalidJson,
               "El cuerpo no es JSON válido (RFC 8259), o está vacío donde hace falta uno. El "
               "detalle dice qué está mal y en qué byte. Las claves no se repiten.",
               "O corpo não é JSON válido (RFC 8259), ou está vazio onde é preciso um. O detalhe "
               "diz o que está errado e em que byte. As chaves não se repetem."},
    Translated{Problem::kInvalidParameter,
               "Un parámetro detrás del signo de pregunta es desconocido, está vacío o repetido, o "
               "su valor no se puede leer. El detalle lo nombra y dice qué se permite.",
               "Um parâmetro depois do ponto de interrogação é desconhecido, está vazio ou "
               "repetido, ou o valor não pode ser lido. O detalhe o nomeia e diz o que é "
               "permitido."},
    Translated{Problem::kMissingIdempotencyKey,
               "Para crear una orden hace falta la cabecera Idempotency-Key: un texto que su "
               "sistema hace una vez por orden y envía igual cuando repite la solicitud.",
               "Para criar um pedido é preciso o cabeçalho Idempotency-Key: um texto que o seu "
               "sistema faz uma vez por pedido e envia igual quando repete a requisição."},
    Translated{Problem::kInvalidHeader,
               "Una cabecera, o la forma de la solicitud, no se puede leer. El detalle nombra la "
               "cabecera y su forma.",
               "Um cabeçalho, ou a forma da requisição, não pode ser lido. O detalhe nomeia o "
               "cabeçalho e a sua forma."},
    Translated{Problem::kConflictingCredentials,
               "Authorization y X-API-Key llevan claves distintas. Envíe una de las dos.",
               "Authorization e X-API-Key levam chaves diferentes. Envie uma das duas."},
    Translated{Problem::kUnauthorized,
               "No se envió una clave, o no se conoce. Envíe Authorization: Bearer <clave>. Los "
               "últimos seis caracteres son una suma de control: una clave mal escrita o cortada "
               "también se rechaza.",
               "Nenhuma chave foi enviada, ou ela não é conhecida. Envie Authorization: Bearer "
               "<chave>. Os últimos seis caracteres são uma soma de verificação: uma chave mal "
               "digitada ou cortada também é recusada."},
    Translated{
        Problem::kKeyRevoked,
        "La clave fue retirada, o reemplazada y su plazo terminó. Use la nueva, o pida que "
        "le hagan una.",
        "A chave foi retirada, ou substituída e o prazo dela acabou. Use a nova, ou peça que "
        "lhe façam uma."},
    Translated{
        Problem::kKeyExpired,
        "La clave se hizo por un tiempo, que terminó. Pida otra, o que se cambie su "
        "expires_at. Si le sorprende, revise el reloj del servidor.",
        "A chave foi feita por um tempo, que acabou. Peça outra, ou que se mude o expires_at "
        "dela. Se isso surpreende, confira o relógio do servidor."},
    Translated{Problem::kWrongEnvironment,
               "Se envió una clave del restaurante al entorno de pruebas, o una de pruebas al "
               "restaurante. Use la clave y la dirección del mismo entorno.",
               "Uma chave do restaurante foi enviada ao ambiente de testes, ou uma de testes ao "
               "restaurante. Use a chave e o endereço do mesmo ambiente."},
    Translated{Problem::kInsufficientScope,
               "La clave es buena, pero le falta el permiso (scope) de esta solicitud; el detalle "
               "lo nombra. Pida que se lo agreguen.",
               "A chave é boa, mas falta a ela a permissão (scope) desta requisição; o detalhe a "
               "nomeia. Peça que seja acrescentada."},
    Translated{Problem::kAddressNotAllowed,
               "La clave se puede usar solo desde ciertas direcciones (allowed_cidrs), y la "
               "solicitud vino de otra.",
               "A chave só pode ser usada a partir de certos endereços (allowed_cidrs), e a "
               "requisição veio de outro."},
    Translated{Problem::kHttpsRequired,
               "La solicitud vino por HTTP sin cifrar, donde cualquiera en el camino leería una "
               "clave. No se leyó nada de ella. El detalle tiene la dirección https que se usa.",
               "A requisição veio por HTTP sem cifra, onde qualquer um no caminho leria uma chave. "
               "Nada dela foi lido. O detalhe tem o endereço https a usar."},
    Translated{Problem::kNotFound,
               "No hay tal ruta, ni un registro con ese id en esta empresa. Revise el id, y que la "
               "ruta no termine en barra.",
               "Não há tal caminho, nem um registro com esse id nesta empresa. Confira o id, e que "
               "o caminho não termine em barra."},
    Translated{Problem::kMethodNotAllowed,
               "La ruta existe, pero no con este método. La cabecera Allow dice los que tiene.",
               "O caminho existe, mas não com este método. O cabeçalho Allow diz os que ele tem."},
    Translated{Problem::kNotAcceptable,
               "La cabecera Accept excluye application/json, y no hay otra forma.",
               "O cabeçalho Accept exclui application/json, e não há outra forma."},
    Translated{Problem::kRequestTimeout,
               "La solicitud no llegó a tiempo. Revise la red entre el cliente y el servidor.",
               "A requisição não chegou a tempo. Confira a rede entre o cliente e o servidor."},
    Translated{Problem::kLengthRequired,
               "La solicitud tiene un cuerpo de largo desconocido. Envíe Content-Length.",
               "A requisição tem um corpo de tamanho desconhecido. Envie Content-Length."},
    Translated{Problem::kPayloadTooLarge,
               "El cuerpo es mayor de lo que la ruta permite: 1 MiB, u 8 MiB en PUT "
               "/v1/menu/products. Envíelo en partes.",
               "O corpo é maior do que o caminho permite: 1 MiB, ou 8 MiB em PUT "
               "/v1/menu/products. Envie-o em partes."},
    Translated{Problem::kUriTooLong,
               "La primera línea de la solicitud pasa de 8 KiB. Use menos parámetros.",
               "A primeira linha da requisição passa de 8 KiB. Use menos parâmetros."},
    Translated{Problem::kUnsupportedMediaType,
               "El cuerpo tiene que ser JSON en UTF-8, sin comprimir: Content-Type: "
               "application/json.",
               "O corpo tem de ser JSON em UTF-8, sem compressão: Content-Type: "
               "application/json."},
    Translated{Problem::kExpectationFailed, "La cabecera Expect pide algo que no es 100-continue.",
               "O cabeçalho Expect pede algo que não é 100-continue."},
    Translated{
        Problem::kMisdirectedRequest,
        "La cabecera Host nombra un servidor que no es este. Use su nombre o su dirección, o "
        "agregue el nombre al ajuste hosts.",
        "O cabeçalho Host nomeia um servidor que não é este. Use o nome ou o endereço dele, "
        "ou acrescente o nome ao ajuste hosts."},
    Translated{Problem::kHeadersTooLarge,
               "Las cabeceras pasan de 16 KiB en total, o son más de 64.",
               "Os cabeçalhos passam de 16 KiB ao todo, ou são mais de 64."},
    Translated{
        Problem::kCursorExpired,
        "El cursor de los eventos es más viejo que lo que se guarda, o de antes de restaurar "
        "una copia. Liste todo de nuevo y siga desde el cursor nuevo.",
        "O cursor dos eventos é mais antigo do que o que se guarda, ou de antes de restaurar "
        "uma cópia. Liste tudo de novo e siga a partir do cursor novo."},
    Translated{Problem::kPreconditionFailed,
               "El registro cambió desde la versión que nombra If-Match. Léalo de nuevo y decida "
               "otra vez.",
               "O registro mudou desde a versão que If-Match nomeia. Leia-o de novo e decida outra "
               "vez."},
    Translated{
        Problem::kValidationFailed,
        "Uno o más campos están mal. errors[] nombra cada uno y dice qué se aceptaría.",
        "Um ou mais campos estão errados. errors[] nomeia cada um e diz o que seria aceito."},
    Translated{Problem::kOrderNotEditable,
               "La orden no vino por esta API: aquí se cambia solo su estado.",
               "O pedido não veio por esta API: aqui só se muda o estado dele."},
    Translated{Problem::kOrderCancelled, "La orden está anulada y queda como está.",
               "O pedido está cancelado e fica como está."},
    Translated{
        Problem::kOrderClosed,
        "La orden está finalizada: acepta comentarios, y ningún otro cambio de esta clase.",
        "O pedido está finalizado: aceita comentários, e nenhuma outra mudança desta classe."},
    Translated{Problem::kOrderHasActivePayments,
               "Una orden con pagos no se puede anular. Anule primero los pagos; el detalle los "
               "nombra.",
               "Um pedido com pagamentos não pode ser cancelado. Cancele primeiro os pagamentos; o "
               "detalhe os nomeia."},
    Translated{
        Problem::kUseCancelEndpoint,
        "Una orden no se anula por su estado. Use POST /v1/orders/{id}/cancel con un motivo.",
        "Um pedido não se cancela pelo estado. Use POST /v1/orders/{id}/cancel com um "
        "motivo."},
    Translated{Problem::kIdempotencyKeyReused,
               "La misma Idempotency-Key vino antes con otra solicitud. Haga una clave nueva para "
               "cada solicitud nueva; repita una solicitud con su clave y su cuerpo sin cambios.",
               "A mesma Idempotency-Key veio antes com outra requisição. Faça uma chave nova para "
               "cada requisição nova; repita uma requisição com a chave e o corpo sem mudanças."},
    Translated{
        Problem::kLastManagingKey,
        "Esta es la última clave que puede manejar claves. Haga otra primero, en la línea de "
        "comandos del servidor.",
        "Esta é a última chave que pode gerir chaves. Faça outra primeiro, na linha de "
        "comando do servidor."},
    Translated{Problem::kRateLimitExceeded,
               "Demasiadas solicitudes. Espere los segundos de Retry-After y siga. Preguntar con "
               "If-None-Match no cuesta nada mientras nada cambia.",
               "Requisições demais. Espere os segundos de Retry-After e siga. Perguntar com "
               "If-None-Match não custa nada enquanto nada muda."},
    Translated{Problem::kInternalError,
               "Algo falló dentro del servidor; nada cambió. Su registro tiene la causa bajo el "
               "request_id de la respuesta.",
               "Algo falhou dentro do servidor; nada mudou. O registro dele tem a causa sob o "
               "request_id da resposta."},
    Translated{Problem::kNotImplemented,
               "El método o la codificación de la solicitud no se conocen aquí.",
               "O método ou a codificação da requisição não são conhecidos aqui."},
    Translated{
        Problem::kServiceUnavailable,
        "El servidor no puede hacerlo ahora: se está deteniendo, está muy ocupado o su disco "
        "está lleno. Reintente después de los segundos de Retry-After; /readyz dice qué está "
        "mal.",
        "O servidor não pode fazer isso agora: está parando, muito ocupado ou com o disco "
        "cheio. Tente de novo depois dos segundos de Retry-After; /readyz diz o que está "
        "errado."},
    Translated{
        Problem::kStandby,
        "Este es el segundo servidor de una oficina central: otro atiende la base de datos, y "
        "este sigue cuando aquel termina. Pregunte al otro, o de nuevo después de los "
        "segundos de Retry-After.",
        "Este é o segundo servidor de um escritório central: outro atende o banco de dados, e "
        "este assume quando aquele termina. Pergunte ao outro, ou de novo depois dos segundos "
        "de Retry-After."},
    Translated{Problem::kVersionNotSupported, "La solicitud no es HTTP/1.1 ni HTTP/1.0.",
               "A requisição não é HTTP/1.1 nem HTTP/1.0."},
};

consteval bool EachProblemHasItsRow() {
  for (size_t i = 0; i < kTranslated.size(); ++i) {
    if (kTranslated[i].problem != static_cast<Problem>(i)) return false;
  }
  return kTranslated.size() == static_cast<size_t>(Problem::kVersionNotSupported) + 1;
}
static_assert(EachProblemHasItsRow());

}  // namespace

std::string_view MeaningOf(Problem problem, Language language) {
  const Translated& row = kTranslated[static_cast<size_t>(problem)];
  switch (language) {
    case Language::kEnglish:
      break;
    case Language::kSpanish:
      return row.spanish;
    case Language::kPortuguese:
      return row.portuguese;
  }
  return wire::Row(problem).meaning;
}

}  // namespace comanda::web
